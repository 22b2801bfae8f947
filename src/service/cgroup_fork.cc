#include "service/cgroup_fork.h"

#include <linux/sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>

namespace throttletest::internal {

// Through the system call, for the library has no function for it. What the library does around its
// own fork() is for children that go on using it; this one makes system calls and then execs.
pid_t ForkInto(int cgroup, bool& entered) {
  entered = false;
#if defined(SYS_clone3) && defined(CLONE_INTO_CGROUP)
  if (cgroup >= 0) {
    entered = true;
    clone_args arguments{};
    arguments.flags = CLONE_INTO_CGROUP;
    arguments.exit_signal = SIGCHLD;
    arguments.cgroup = static_cast<std::uint64_t>(cgroup);
    const long child = ::syscall(SYS_clone3, &arguments, sizeof arguments);
    if (child >= 0) return static_cast<pid_t>(child);
    entered = false;
  }
#else
  (void)cgroup;
#endif
  return ::_Fork();
}

}  // namespace throttletest::internal
