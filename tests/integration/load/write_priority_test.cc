// What the real kernel grants the load thread while it writes a batch.
#include "load/write_priority.h"

#include <gtest/gtest.h>
#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#include <thread>

namespace throttletest::internal {
namespace {

int PolicyNow() {
  sched_param param{};
  int policy = -1;
  ::pthread_getschedparam(::pthread_self(), &policy, &param);
  return policy;
}

TEST(WritePriority, IsHeldForAsLongAsItLivesAndGivenBack) {
  std::thread([] {
    {
      const WritePriority priority;
      EXPECT_EQ(PolicyNow(), priority.raised() ? SCHED_FIFO : SCHED_OTHER);
    }
    EXPECT_EQ(PolicyNow(), SCHED_OTHER);
  }).join();
}

// A thread that has such a priority by its owner's choice keeps it.
TEST(WritePriority, LeavesAPriorityOfTheThreadsOwnAlone) {
  std::thread([] {
    const sched_param own{.sched_priority = 2};
    if (::pthread_setschedparam(::pthread_self(), SCHED_FIFO, &own) != 0) {
      GTEST_SKIP() << "real-time priority is not granted here";
    }
    { const WritePriority priority; }
    EXPECT_EQ(PolicyNow(), SCHED_FIFO);
  }).join();
}

}  // namespace
}  // namespace throttletest::internal
