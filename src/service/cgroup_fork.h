// ForkInto: fork() whose child is born in a cgroup.
#pragma once

#include <sys/types.h>

namespace throttletest::internal {

// As fork(): 0 in the child, which may only make system calls, the child's number in the parent, -1
// and errno. `cgroup` is an open v2 directory: the child is in it from its first instruction on, so
// nothing it does is counted elsewhere. `entered` says in both whether that was so; the kernel may
// be older than 5.7, or not allow it, and the child is then where its parent is. Absent: -1, an
// ordinary fork.
pid_t ForkInto(int cgroup, bool& entered);

}  // namespace throttletest::internal
