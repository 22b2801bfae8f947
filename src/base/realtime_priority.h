// RealtimePriority: lets a thread do a short piece of work before anything else gets the CPU.
#pragma once

#include <pthread.h>
#include <sched.h>

#include <atomic>

namespace throttletest::internal {

// While one lives, the calling thread runs under SCHED_FIFO at the lowest priority, where the
// system grants that (root, CAP_SYS_NICE or RLIMIT_RTPRIO); elsewhere nothing changes. For work
// whose length is known, so that nobody is starved.
class RealtimePriority {
 public:
  RealtimePriority() {
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
  ~RealtimePriority() {
    const sched_param ordinary{.sched_priority = 0};
    if (raised_) ::pthread_setschedparam(::pthread_self(), SCHED_OTHER, &ordinary);
  }
  RealtimePriority(const RealtimePriority&) = delete;
  RealtimePriority& operator=(const RealtimePriority&) = delete;

  bool raised() const { return raised_; }

 private:
  bool raised_ = false;
};

}  // namespace throttletest::internal
