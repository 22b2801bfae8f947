#include "service/systemd_manager.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <utility>

#include "cgroup/control_file.h"

namespace throttletest::internal {
namespace {

std::string FromEnvironment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

SystemdManager TheMachines(const ControllerLocation& unified) {
  SystemdManager manager{.user = false, .home = unified, .slice = "/system.slice"};
  manager.home.relative_path = "/";
  return manager;
}

SystemdManager TheUsers(const ControllerLocation& unified, uid_t uid) {
  SystemdManager manager{.user = true, .home = unified};
  manager.home.relative_path = fmt::format("/user.slice/user-{0}.slice/user@{0}.service", uid);
  manager.slice = manager.home.relative_path + "/app.slice";
  return manager;
}

std::vector<std::string> ManagerCall(const SystemdManager& manager, const std::string& method) {
  return {"busctl",
          manager.user ? "--user" : "--system",
          "--timeout=20",
          "call",
          "org.freedesktop.systemd1",
          "/org/freedesktop/systemd1",
          "org.freedesktop.systemd1.Manager",
          method};
}

}  // namespace

std::string SystemdManager::ToString() const {
  return user ? "the systemd manager of this user" : "systemd";
}

SystemdSurroundings SystemdSurroundings::OfThisProcess() {
  return {.fs_root = "",
          .uid = ::geteuid(),
          .runtime_dir = FromEnvironment("XDG_RUNTIME_DIR"),
          .bus_address = FromEnvironment("DBUS_SESSION_BUS_ADDRESS")};
}

std::string DelegateAdvice() {
  return "have them handed down with: sudo mkdir -p /etc/systemd/system/user@.service.d && printf "
         "'[Service]\\nDelegate=cpu cpuset io memory pids\\n' | sudo tee "
         "/etc/systemd/system/user@.service.d/delegate.conf && sudo systemctl daemon-reload, and "
         "log in again";
}

SystemdAnswer FindSystemdManager(const ControllerLocation& unified,
                                 const SystemdSurroundings& surroundings) {
  // What sd_booted(3) looks at.
  if (!Exists(surroundings.fs_root + "/run/systemd/system")) return {};
  // In a container's view of the tree the units of the machine's systemd are not to be seen.
  if (unified.ancestors_hidden) return {};
  const bool user = surroundings.uid != 0;
  if (!user && !Exists(surroundings.fs_root + "/run/dbus/system_bus_socket")) return {};
  SystemdManager manager = user ? TheUsers(unified, surroundings.uid) : TheMachines(unified);
  if (user) {
    const std::string runtime_dir = surroundings.runtime_dir.empty()
                                        ? fmt::format("/run/user/{}", surroundings.uid)
                                        : surroundings.runtime_dir;
    const std::string directory = surroundings.fs_root + manager.home.directory();
    if (!Exists(surroundings.fs_root + runtime_dir + "/bus") || !Exists(directory)) {
      return {.manager = std::nullopt,
              .lack = fmt::format("no systemd manager runs for uid {0} ({1}/bus): log in as that "
                                  "user, or keep one running with: sudo loginctl enable-linger {0}",
                                  surroundings.uid, runtime_dir)};
    }
    manager.env["XDG_RUNTIME_DIR"] = runtime_dir;
    manager.env["DBUS_SESSION_BUS_ADDRESS"] = surroundings.bus_address.empty()
                                                  ? "unix:path=" + runtime_dir + "/bus"
                                                  : surroundings.bus_address;
  }
  manager.controllers =
      ReadWords(surroundings.fs_root + manager.home.directory() + "/cgroup.controllers");
  return {.manager = std::move(manager), .lack = {}};
}

std::vector<std::string> StartScopeCall(const SystemdManager& manager, const std::string& unit,
                                        pid_t first) {
  std::vector<std::string> call = ManagerCall(manager, "StartTransientUnit");
  // Name and mode, four properties, no further units.
  for (const char* word : {"ssa(sv)a(sa(sv))", unit.c_str(), "fail", "4"}) call.emplace_back(word);
  for (const char* word : {"Description", "s", "services under test of throttletest"}) {
    call.emplace_back(word);
  }
  for (const char* word : {"Delegate", "b", "true"}) call.emplace_back(word);
  // Also a unit that failed goes away by itself.
  for (const char* word : {"CollectMode", "s", "inactive-or-failed"}) call.emplace_back(word);
  for (const char* word : {"PIDs", "au", "1"}) call.emplace_back(word);
  call.push_back(std::to_string(first));
  call.emplace_back("0");
  return call;
}

std::vector<std::string> AttachCall(const SystemdManager& manager, const std::string& unit,
                                    const std::string& subgroup, pid_t pid) {
  std::vector<std::string> call = ManagerCall(manager, "AttachProcessesToUnit");
  call.insert(call.end(), {"ssau", unit, subgroup, "1", std::to_string(pid)});
  return call;
}

}  // namespace throttletest::internal
