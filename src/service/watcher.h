// Watcher: a small process that cleans up for a test process that died without a chance to do so
// itself (kill -9, SIGINT, abort).
//
//   CleanupTicket ticket = Watcher::Guard({.cgroup_dirs = {"/sys/fs/cgroup/cpu/throttletest-..."},
//                                          .commands = {{"docker", "rm", "-f", name}}});
//   ... the service runs ...
//   ticket.Release();  // after everything was removed in the normal way
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace throttletest::internal {

// What to undo when the test process is gone. Every part may be empty.
struct CleanupAction {
  // Cgroups whose processes are killed and which are then removed, sub-cgroups included. Absolute
  // paths below a cgroup mount.
  std::vector<std::string> cgroup_dirs = {};
  // Argument vectors run one after the other once the cgroups are gone, and all of them once more a
  // second later, each with a deadline of 20 s and with its streams on /dev/null. A program without
  // '/' is looked up in PATH when the action is registered; the environment is that of the moment
  // the watcher was started.
  std::vector<std::vector<std::string>> commands = {};
};

// Holds one registered action. Move-only; the destructor releases.
class CleanupTicket {
 public:
  CleanupTicket() = default;
  CleanupTicket(CleanupTicket&& other) noexcept;
  CleanupTicket& operator=(CleanupTicket&& other) noexcept;
  ~CleanupTicket() { Release(); }

  // The holder has cleaned up itself: forgets the action. Idempotent.
  void Release();
  bool armed() const { return slot_ >= 0; }

 private:
  friend class Watcher;
  CleanupTicket(int slot, pid_t owner) : slot_(slot), owner_(owner) {}
  int slot_ = -1;
  pid_t owner_ = 0;  // a forked child must not release its parent's action
};

// One watcher process for each test process, started at the first Guard(). It is a session of its
// own, so a terminal's SIGINT does not reach it, and holds no descriptor of the test process, so
// that pipes, locks and listening sockets end when they should. Thread-safe.
class Watcher {
 public:
  // Registers `action`; register before making what it removes. Errors: kServiceStart when the
  // process cannot be started or the action does not fit (64 live actions, 16 KiB of text each);
  // kNoContainerRuntime when a command's program is not in PATH.
  static CleanupTicket Guard(const CleanupAction& action);
  // The watcher's process. Absent: 0, nothing was guarded yet.
  static pid_t ProcessId();
};

}  // namespace throttletest::internal
