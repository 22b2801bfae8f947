// SystemdManager: the systemd that may give this process a cgroup of its own ("delegation").
//
// On a machine that systemd runs, the v2 tree is systemd's: what somebody else writes into it is
// reset at the next reload, and an ordinary user may not write there at all. A unit with
// Delegate=yes is the part of the tree that systemd leaves alone.
#pragma once

#include <sys/types.h>

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "service/subprocess.h"
#include "throttletest/cgroup/location.h"

namespace throttletest::internal {

// Which manager, and what it can give.
struct SystemdManager {
  bool user = false;                            // the user's own, else the machine's
  std::map<std::string, std::string> env = {};  // how its bus is reached
  ControllerLocation home = {};                 // the cgroup whose controllers its units can have
  std::string slice = {};                       // where its scopes are made, relative to the mount
  std::vector<std::string> controllers = {};    // cgroup.controllers of `home`

  // "the systemd manager of uid 1000", "systemd".
  std::string ToString() const;
};

// What there is to look at; tests say other things.
struct SystemdSurroundings {
  std::string fs_root = {};  // put before every path that is opened
  uid_t uid = 0;
  std::string runtime_dir = {};  // XDG_RUNTIME_DIR; empty: /run/user/UID
  std::string bus_address = {};  // DBUS_SESSION_BUS_ADDRESS; empty: the bus in the runtime folder

  static SystemdSurroundings OfThisProcess();
};

// The manager that is responsible for this process, or why there is none: empty when systemd does
// not run this machine (a container, another init), else what is missing and the way out.
struct SystemdAnswer {
  std::optional<SystemdManager> manager = std::nullopt;
  std::string lack = {};
};

// Looks; changes nothing and calls nobody. `unified`: where this process is in the v2 tree. Errors:
// none.
SystemdAnswer FindSystemdManager(const ControllerLocation& unified,
                                 const SystemdSurroundings& surroundings);

// The line that makes systemd hand a user the controllers it does not by itself.
std::string DelegateAdvice();

// Calls of the manager's bus interface, as command lines of busctl.
std::vector<std::string> StartScopeCall(const SystemdManager& manager, const std::string& unit,
                                        pid_t first);
std::vector<std::string> AttachCall(const SystemdManager& manager, const std::string& unit,
                                    const std::string& subgroup, pid_t pid);

}  // namespace throttletest::internal
