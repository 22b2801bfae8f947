// SystemdScope: a delegated unit of systemd's in which this process makes the cgroups of services.
#pragma once

#include <sys/types.h>

#include <memory>
#include <string>

#include "service/child_process.h"
#include "service/systemd_manager.h"
#include "throttletest/cgroup/location.h"

namespace throttletest::internal {

// One a process, made when the first service needs it. A process that only waits keeps it alive; it
// dies with this process, and systemd then removes the scope.
class SystemdScope {
 public:
  // The scope of this process; a child that was forked gets one of its own. Errors: kUnsupported
  // when systemd refuses, with its answer.
  static std::shared_ptr<SystemdScope> Of(const SystemdManager& manager);

  explicit SystemdScope(const SystemdManager& manager);

  const ControllerLocation& location() const { return location_; }
  // Moves `pid`, a process of this user from anywhere, into the cgroup `name` of this scope.
  // systemd does it: a user may not write where the process comes from. Errors: kServiceStart.
  void Move(const std::string& name, pid_t pid) const;
  bool user() const { return manager_.user; }
  bool alive() const { return !keeper_->End(); }

 private:
  void AwaitKeeperInside();
  void Call(const std::vector<std::string>& call) const;

  SystemdManager manager_;
  std::string unit_;
  std::unique_ptr<ChildProcess> keeper_;
  ControllerLocation location_;
};

}  // namespace throttletest::internal
