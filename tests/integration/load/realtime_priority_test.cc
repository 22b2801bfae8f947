// What the real kernel grants a thread that must come first.
#include "base/realtime_priority.h"

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

TEST(RealtimePriority, IsHeldForAsLongAsItLivesAndGivenBack) {
  std::thread([] {
    {
      const RealtimePriority priority;
      EXPECT_EQ(PolicyNow(), priority.raised() ? SCHED_FIFO : SCHED_OTHER);
    }
    EXPECT_EQ(PolicyNow(), SCHED_OTHER);
  }).join();
}

// A thread that has such a priority by its owner's choice keeps it.
TEST(RealtimePriority, LeavesAPriorityOfTheThreadsOwnAlone) {
  std::thread([] {
    const sched_param own{.sched_priority = 2};
    if (::pthread_setschedparam(::pthread_self(), SCHED_FIFO, &own) != 0) {
      GTEST_SKIP() << "real-time priority is not granted here";
    }
    { const RealtimePriority priority; }
    EXPECT_EQ(PolicyNow(), SCHED_FIFO);
  }).join();
}

}  // namespace
}  // namespace throttletest::internal
