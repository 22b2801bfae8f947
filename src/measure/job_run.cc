#include "throttletest/measure/job_run.h"

#include <fmt/format.h>

#include <csignal>

#include "throttletest/base/duration.h"

namespace throttletest {

bool JobRun::succeeded() const {
  const Outcome<int> known = status();
  return known.has_value() && known.value() == 0;
}

Outcome<int> JobRun::status() const {
  constexpr int kSignalBase = 128;
  if (timed_out || end.stopped_by_us) return Outcome<int>::Inconclusive("the job " + ToString());
  // The main process may end well without the worker that was killed.
  const bool spoiled = end.exit_code == 0 && end.oom_kills.value_or(0) > 0;
  if (spoiled) return Outcome<int>::Value(kSignalBase + SIGKILL);
  if (end.exit_code) return Outcome<int>::Value(*end.exit_code);
  if (end.signal) return Outcome<int>::Value(kSignalBase + *end.signal);
  return Outcome<int>::NotAvailable("the exit status of the job is not known");
}

std::string JobRun::ToString() const {
  if (!timed_out) {
    const std::string text = end.ToString();
    const bool passive = text.starts_with("killed") || text.starts_with("OOM-killed");
    return passive ? "was " + text : text;
  }
  return fmt::format("was stopped after its timeout of {}", throttletest::ToString(timeout));
}

}  // namespace throttletest
