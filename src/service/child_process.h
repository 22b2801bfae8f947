// ChildProcess: the main process of a service that the cgroup launcher runs.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace throttletest::internal {

// What to run and how.
struct SpawnPlan {
  std::string program;                   // a path
  std::vector<std::string> arguments;    // with argument 0
  std::vector<std::string> environment;  // "NAME=value", the complete environment
  std::string cgroup = {};               // a v2 cgroup to be born in, where the kernel can
  std::vector<std::string> join_files;   // cgroup.procs files, joined before the program runs
  // Moves the child into its cgroup from outside, while it waits. Absent: it joins by itself.
  std::function<void(pid_t)> move = {};
  int output = -1;  // becomes stdout and stderr; stdin is /dev/null
};

// How a process ended. Absent (both): somebody else collected its status.
struct ProcessEnd {
  std::optional<int> exit_code;
  std::optional<int> signal;
};

// A child of this process, in a process group of its own, with default signal handlers, without any
// descriptor of ours but its three streams, and killed by the kernel when this process dies.
// Thread-safe. The destructor kills and collects it.
class ChildProcess {
 public:
  // Returns once the program runs. Errors: kServiceStart naming the step and the system's answer.
  static std::unique_ptr<ChildProcess> Spawn(const SpawnPlan& plan);
  virtual ~ChildProcess() = default;

  virtual pid_t pid() const = 0;
  // Absent: it runs.
  virtual std::optional<ProcessEnd> End() const = 0;
  // Waits for the end. Absent: it still runs after `timeout`.
  virtual std::optional<ProcessEnd> Wait(std::chrono::nanoseconds timeout) const = 0;
  virtual void Kill() = 0;
};

}  // namespace throttletest::internal
