// What the calling thread has used of the CPUs so far.
#pragma once

#include <chrono>
#include <ctime>

namespace throttletest::internal {

inline std::chrono::nanoseconds ThreadCpuTime() {
  timespec used{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
  return std::chrono::seconds(used.tv_sec) + std::chrono::nanoseconds(used.tv_nsec);
}

}  // namespace throttletest::internal
