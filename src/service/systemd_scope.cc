#include "service/systemd_scope.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <mutex>
#include <thread>

#include "base/unique_fd.h"
#include "cgroup/writer.h"
#include "service/owner.h"
#include "service/program.h"
#include "throttletest/base/error.h"

namespace throttletest::internal {
namespace {

// The scope itself must hold no process, or its cgroups could not have controllers.
constexpr const char* kKeeper = "keeper";
constexpr auto kMovedWithin = std::chrono::seconds(10);

std::unique_ptr<ChildProcess> StartKeeper() {
  const UniqueFd null(::open("/dev/null", O_WRONLY | O_CLOEXEC));
  return ChildProcess::Spawn({.program = RequireProgram("sleep"),
                              .arguments = {"sleep", "infinity"},
                              .environment = {},
                              .join_files = {},
                              .output = null.get()});
}

}  // namespace

std::shared_ptr<SystemdScope> SystemdScope::Of(const SystemdManager& manager) {
  static std::mutex mutex;
  // Never destroyed before its last user: services may be stopped by destructors of static objects.
  static auto& scope = *new std::shared_ptr<SystemdScope>;
  static pid_t owner = 0;
  const std::lock_guard lock(mutex);
  if (owner != ::getpid() || !scope || !scope->alive()) {
    // After a fork the keeper is the parent's child: it must be left alone here.
    if (owner != ::getpid() && scope) new std::shared_ptr<SystemdScope>(scope);
    scope = std::make_shared<SystemdScope>(manager);
    owner = ::getpid();
  }
  return scope;
}

SystemdScope::SystemdScope(const SystemdManager& manager)
    : manager_(manager), unit_(UniqueName() + ".scope"), keeper_(StartKeeper()) {
  Call(StartScopeCall(manager_, unit_, keeper_->pid()));
  AwaitKeeperInside();
  const CgroupLocation keeper = ChildLocation({.unified = location_}, kKeeper);
  MakeCgroup(keeper);
  AddProcess(keeper, keeper_->pid());
}

// The call only starts a job.
void SystemdScope::AwaitKeeperInside() {
  const auto end = std::chrono::steady_clock::now() + kMovedWithin;
  while (true) {
    const auto place = LocateCgroup(keeper_->pid()).unified;
    if (place && place->relative_path.ends_with("/" + unit_)) {
      location_ = *place;
      return;
    }
    if (std::chrono::steady_clock::now() >= end) {
      throw Error(ErrorCode::kUnsupported,
                  fmt::format("{} accepted {} but did not make it: its process is still in {}",
                              manager_.ToString(), unit_,
                              place ? place->relative_path : "an unknown cgroup"));
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
}

void SystemdScope::Move(const std::string& name, pid_t pid) const {
  Call(AttachCall(manager_, unit_, "/" + name, pid));
}

void SystemdScope::Call(const std::vector<std::string>& call) const {
  const CommandResult result = RunCommand(call, {.env = manager_.env});
  if (result.ok()) return;
  throw Error(ErrorCode::kUnsupported,
              fmt::format("{} gives no cgroup: {}", manager_.ToString(), result.Describe()));
}

}  // namespace throttletest::internal
