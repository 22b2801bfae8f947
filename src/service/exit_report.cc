#include <fmt/format.h>

#include <csignal>
#include <cstring>

#include "throttletest/service/service.h"

namespace throttletest {
namespace {

// What shells and container engines report for a SIGKILL: an OOM kill, `docker kill` and a stop
// that took too long all look like this, so only the cgroup's counter decides.
constexpr int kStatusOfSigkill = 128 + SIGKILL;

std::string Kills(std::int64_t count) {
  return fmt::format("{} kill{}", count, count == 1 ? "" : "s");
}

std::string SignalName(int signal) {
  const char* name = ::sigabbrev_np(signal);
  return name == nullptr ? fmt::format("signal {}", signal) : fmt::format("SIG{}", name);
}

std::string OomRemark(const std::optional<std::int64_t>& kills) {
  if (!kills) return ", not known whether by OOM";
  return *kills == 0 ? ", no OOM recorded" : "";
}

}  // namespace

std::string ExitReport::ToString() const {
  const bool oom = oom_kills.value_or(0) > 0;
  const bool sigkill = signal == SIGKILL || exit_code == kStatusOfSigkill;
  // Its own processes were killed for memory while it ran on, which is trouble all the same.
  const std::string extra =
      oom ? fmt::format(", a process of it was OOM-killed ({})", Kills(*oom_kills)) : "";
  if (still_runs) return "was left running" + extra;
  if (stopped_by_us) return "ran until it was stopped" + extra;
  if (sigkill && oom) return fmt::format("OOM-killed ({})", Kills(*oom_kills));
  if (signal) {
    return fmt::format("killed by {}{}", SignalName(*signal),
                       sigkill ? OomRemark(oom_kills) : extra);
  }
  if (exit_code) {
    return fmt::format("exited with status {}{}", *exit_code,
                       sigkill ? " (as after SIGKILL)" + OomRemark(oom_kills) : extra);
  }
  return "ended, its exit status is not known" + extra;
}

}  // namespace throttletest
