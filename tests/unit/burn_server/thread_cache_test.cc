#include "thread_cache.h"

#include <gtest/gtest.h>

#include <atomic>
#include <latch>
#include <thread>

namespace burn_server {
namespace {

TEST(ThreadCache, RunsJobsAtTheSameTime) {
  ThreadCache threads(8);
  // Passed only when all four jobs are there together.
  std::latch together(4);
  for (int i = 0; i < 4; ++i) threads.Run([&] { together.arrive_and_wait(); });
  together.wait();
  EXPECT_EQ(threads.threads(), 4U);
  threads.Join();
}

TEST(ThreadCache, UsesAThreadAgain) {
  ThreadCache threads(8);
  std::atomic<int> done{0};
  std::latch release(1);
  threads.Run([&] { release.wait(); });
  // Jobs that follow each other share one further thread once it has come back.
  for (int i = 0; i < 20; ++i) {
    threads.Run([&] { ++done; });
    while (done.load() <= i) std::this_thread::yield();
  }
  EXPECT_LT(threads.threads(), 20U);
  release.count_down();
  threads.Join();
  EXPECT_EQ(done.load(), 20);
}

TEST(ThreadCache, JobsBeyondTheMaximumWait) {
  ThreadCache threads(2);
  std::atomic<int> running{0};
  std::atomic<int> most{0};
  std::atomic<int> done{0};
  for (int i = 0; i < 50; ++i) {
    threads.Run([&] {
      const int now = ++running;
      int seen = most.load();
      while (now > seen && !most.compare_exchange_weak(seen, now)) {
      }
      std::this_thread::yield();
      --running;
      ++done;
    });
  }
  threads.Join();
  EXPECT_EQ(done.load(), 50);
  EXPECT_LE(most.load(), 2);
}

TEST(ThreadCache, JoinWithoutJobsReturns) {
  ThreadCache threads(2);
  threads.Join();
  EXPECT_EQ(threads.threads(), 0U);
}

}  // namespace
}  // namespace burn_server
