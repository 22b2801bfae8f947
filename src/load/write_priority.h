// WritePriority: lets the load thread finish writing a batch before the service it wakes takes the
// CPU away from it.
#pragma once

#include <pthread.h>
#include <sched.h>

#include <atomic>

namespace throttletest::internal {

// While one lives, the calling thread runs under SCHED_FIFO at the lowest priority, where the
// system grants that (root, CAP_SYS_NICE or RLIMIT_RTPRIO); elsewhere nothing changes. Without it
// the kernel moves the service onto the writer's CPU with the first request, and hands it that CPU
// when the writer's time slice of some 3 ms is over: the rest of a batch of 512 then waits 4 ms.
// For the time of one batch only, so that a generator that cannot keep up starves nobody.
class WritePriority {
 public:
  WritePriority() {
    static std::atomic<bool> refused = false;
    if (refused) return;
    const sched_param fifo{.sched_priority = ::sched_get_priority_min(SCHED_FIFO)};
    sched_param before{};
    int policy = SCHED_OTHER;
    // One that has such a priority already keeps it.
    if (::pthread_getschedparam(::pthread_self(), &policy, &before) != 0 || policy != SCHED_OTHER) {
      return;
    }
    raised_ = ::pthread_setschedparam(::pthread_self(), SCHED_FIFO, &fifo) == 0;
    refused = !raised_;
  }
  ~WritePriority() {
    const sched_param ordinary{.sched_priority = 0};
    if (raised_) ::pthread_setschedparam(::pthread_self(), SCHED_OTHER, &ordinary);
  }
  WritePriority(const WritePriority&) = delete;
  WritePriority& operator=(const WritePriority&) = delete;

  bool raised() const { return raised_; }

 private:
  bool raised_ = false;
};

}  // namespace throttletest::internal
