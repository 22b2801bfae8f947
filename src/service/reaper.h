// Reaper: emptying and removing a cgroup with nothing but system calls.
//
// The watcher runs in a process that was forked from a program with any number of threads, where
// memory must not be allocated and no lock may be taken; everything here keeps to that.
// Everybody else uses cgroup/writer.h.
#pragma once

#include <cstdint>

namespace throttletest::internal {

// SIGKILLs every process in `directory` and the cgroups below it and removes them, deepest first,
// again and again until all is gone or `timeout_ms` is over. Refuses (false) a directory that is
// not inside a cgroup file system or is the root of one. True when nothing is left.
// Async-signal-safe.
bool ReapCgroup(const char* directory, std::int64_t timeout_ms);

// Sleeps, and reads the monotonic clock in milliseconds. Async-signal-safe.
void SleepMs(std::int64_t ms);
std::int64_t NowMs();

}  // namespace throttletest::internal
