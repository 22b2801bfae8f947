#include "limited_cgroup.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cgroup/writer.h"
#include "service/cgroup_place.h"
#include "throttletest/base/error.h"
#include "throttletest/cgroup/limits.h"

namespace throttletest::bench {
namespace {

pid_t StartSpinning() {
  const pid_t pid = fork();
  if (pid < 0) throw Error(ErrorCode::kCgroup, "cannot start a process for the cgroup");
  if (pid == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (;;) {
      // So that the loop is not taken for one without effect.
      asm volatile("");
    }
  }
  return pid;
}

}  // namespace

LimitedCgroup::LimitedCgroup() {
  CgroupLocation own = LocateCgroup(getpid());
  // Right below the root where that is possible: how deep this process happens to be is no property
  // of the reader.
  for (auto* controller : {&own.cpu, &own.cpuacct, &own.cpuset, &own.memory}) {
    if (*controller && (*controller)->version == CgroupVersion::kV1 &&
        !(*controller)->ancestors_hidden && access((*controller)->mount_point.c_str(), W_OK) == 0) {
      (*controller)->relative_path = "/";
    }
  }
  const internal::PlaceAnswer answer = internal::FindCgroupPlace(own, internal::CgroupNeeds{});
  if (!answer.place) throw Error(answer.code, answer.lack);
  const std::string name = "throttletest-bench-" + std::to_string(getpid());
  location_ = internal::ChildLocation(answer.place->parent, name);
  if (!answer.place->enable.empty()) {
    internal::EnableControllers(answer.place->parent.unified->directory(), answer.place->enable);
  }
  internal::MakeCgroup(location_);
  ResolvedLimits limits;
  limits.cpu.quota = std::chrono::milliseconds(50);
  internal::WriteLimits(location_, limits);
}

LimitedCgroup::~LimitedCgroup() {
  StopWork();
  internal::RemoveCgroup(location_);
}

void LimitedCgroup::StartWork() {
  worker_ = StartSpinning();
  internal::AddProcess(location_, worker_);
}

void LimitedCgroup::StopWork() {
  if (worker_ <= 0) return;
  kill(worker_, SIGKILL);
  waitpid(worker_, nullptr, 0);
  worker_ = -1;
}

std::optional<CgroupLocation> LimitedCgroup::Unified() const {
  const auto& unified = location_.unified;
  if (!unified || !location_.cpu || location_.cpu->version == CgroupVersion::kV2) {
    return std::nullopt;
  }
  return CgroupLocation{.cpu = unified, .cpuacct = unified, .unified = unified};
}

}  // namespace throttletest::bench
