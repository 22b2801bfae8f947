// A process held so that its number cannot become another one's meanwhile.
#pragma once

#include <sys/types.h>

#include <chrono>

#include "base/unique_fd.h"

namespace throttletest::internal {

// A pidfd. Absent: not valid, with errno: ESRCH for no such process, ENOSYS before kernel 5.3.
UniqueFd OpenProcess(pid_t pid);

// True when the process has ended, or does so `within` that time. `held` must be valid.
bool HasEnded(const UniqueFd& held, std::chrono::nanoseconds within = std::chrono::nanoseconds(0));

}  // namespace throttletest::internal
