// LauncherThread: the one thread that forks services.
#pragma once

#include <functional>

namespace throttletest::internal {

// Runs `job` on the launcher thread and waits for it; an exception comes back to the caller.
//
// PR_SET_PDEATHSIG fires when the thread that forked ends, not when its process does. A service
// started from a short-lived thread of the test would die with that thread, so all are forked from
// a thread that lives as long as the process. Thread-safe; jobs run one at a time.
void RunOnLauncherThread(const std::function<void()>& job);

}  // namespace throttletest::internal
