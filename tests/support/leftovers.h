// Leftovers: what a run of ours has left in the cgroup tree, for tests that say "nothing is left".
#pragma once

#include <signal.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

namespace throttletest::test {

// True for "throttletest-PID...." of a process that has ended: other tests may run at the same
// time.
inline bool IsOfTheDead(const std::string& name) {
  if (!name.starts_with("throttletest-")) return false;
  const int pid = std::atoi(name.c_str() + std::string("throttletest-").size());
  return pid > 0 && kill(pid, 0) != 0;
}

// Directories of dead owners anywhere in the cgroup hierarchies.
inline std::vector<std::string> CgroupLeftovers() {
  std::vector<std::string> found;
  std::error_code error;
  for (std::filesystem::recursive_directory_iterator it("/sys/fs/cgroup", error), end; it != end;
       it.increment(error)) {
    if (error) break;
    if (it->is_directory(error) && IsOfTheDead(it->path().filename().string())) {
      found.push_back(it->path().string());
    }
  }
  return found;
}

// The same after giving the watcher process up to `patience` to finish.
inline std::vector<std::string> CgroupLeftoversAfter(std::chrono::milliseconds patience) {
  const auto deadline = std::chrono::steady_clock::now() + patience;
  while (!CgroupLeftovers().empty() && std::chrono::steady_clock::now() < deadline) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  return CgroupLeftovers();
}

}  // namespace throttletest::test
