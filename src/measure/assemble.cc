#include "measure/assemble.h"

#include <fmt/format.h>

#include <algorithm>

#include "cgroup/unseen.h"
#include "measure/batch_use.h"
#include "measure/gates.h"
#include "throttletest/base/duration.h"
#include "throttletest/cgroup/read_back.h"

namespace throttletest::internal {
namespace {

using std::chrono::nanoseconds;

// Every figure of a window whose end could not be read.
CgroupDelta WithoutSecondSnapshot(const Snapshot& before, const std::string& reason) {
  CgroupDelta d;
  d.throttle_ratio = Outcome<double>::Inconclusive(reason);
  d.throttled_per_second = d.usage_cores = d.usage_of_limit = d.usage_of_host = d.throttle_ratio;
  d.periods = Outcome<std::int64_t>::Inconclusive(reason);
  d.throttled_periods = d.bursts = d.memory_peak = d.oom_kills = d.periods;
  d.throttled_time = Outcome<nanoseconds>::Inconclusive(reason);
  d.burst_time = d.held_time = d.held_by_unseen = d.usage = d.throttled_time;
  d.cpu_pressure_some = d.memory_pressure_some = d.throttled_time;
  d.effective = before.EffectiveCpu();
  d.unseen = before.unseen;
  return d;
}

void AddNotes(std::vector<std::string>& notes, const std::vector<std::string>& more) {
  for (const std::string& note : more) {
    if (std::find(notes.begin(), notes.end(), note) == notes.end()) notes.push_back(note);
  }
}

// Where batches start within the period of the service's quota.
void AddPhaseNote(std::vector<std::string>& notes, const WindowInputs& in) {
  const std::string period = throttletest::ToString(nanoseconds(in.requested.cpu.period));
  if (in.in_phase) {
    AddNotes(notes,
             {fmt::format("all batches start at the same point of the {} period, so this run "
                          "shows one case: an interval that is no multiple of it shows all",
                          period)});
  }
  if (in.moved) {
    AddNotes(notes, {fmt::format("each batch was moved by up to one period of {}, so that together "
                                 "they meet it at every point",
                                 period)});
  }
}

std::string LeftNote(std::size_t left) {
  return fmt::format(
      "{} process{} of the job still ran when its main process had ended, and {} "
      "stopped",
      left, left == 1 ? "" : "es", left == 1 ? "was" : "were");
}

std::string UnseenNote(const CgroupDelta& delta) {
  const auto& held = delta.held_by_unseen;
  std::string effect = "no limit there held the service";
  if (!held.has_value()) effect = held.reason();
  if (IsHeldByUnseen(held)) effect = "a limit there held the service";
  return fmt::format("not seen from here: {}; {}", delta.unseen, effect);
}

std::vector<std::string> CollectNotes(const WindowInputs& in, const CgroupDelta& delta,
                                      const HostActivity& host) {
  std::vector<std::string> notes;
  AddNotes(notes, in.before.notes);
  if (in.after) AddNotes(notes, in.after->notes);
  AddNotes(notes, delta.notes);
  if (!in.found) AddNotes(notes, CheckLimits(in.requested, in.before).notes);
  const int online = in.before.online.count();
  if (online > 0 && in.requested.cpu.cpus().value_or(0) > online) {
    AddNotes(notes,
             {fmt::format("a limit of {:.4g} CPUs is pointless on the {} CPUs of this machine: the "
                          "quota can never be used up",
                          *in.requested.cpu.cpus(), online)});
  }
  AddPhaseNote(notes, in);
  if (!host.most_others_cpu.has_value()) {
    AddNotes(notes,
             {"whether the machine was busy is not known: " + host.most_others_cpu.reason()});
  }
  if (!delta.unseen.empty()) AddNotes(notes, {UnseenNote(delta)});
  if (!in.timeline.stopped_because.empty()) {
    AddNotes(notes, {"the timeline ends early: " + in.timeline.stopped_because});
  }
  if (in.left > 0) AddNotes(notes, {LeftNote(in.left)});
  if (in.warm_up_failed > 0) {
    AddNotes(notes, {fmt::format("{} of {} warm-up requests failed", in.warm_up_failed,
                                 in.warm_up_planned)});
  }
  return notes;
}

// The counters of a job begin a moment before its program does; what it used per second is of the
// time that it ran.
void ToTheJobsTime(const WindowInputs& in, CgroupDelta& d) {
  d.wall = in.job->ran;
  const double wall = static_cast<double>(d.wall.count());
  if (wall <= 0 || !in.after) return;
  const auto online = static_cast<double>(in.after->online.count());
  const auto per_wall = [wall](nanoseconds time) {
    return Outcome<double>::Value(static_cast<double>(time.count()) / wall);
  };
  if (d.throttled_time.has_value()) d.throttled_per_second = per_wall(d.throttled_time.value());
  if (!d.usage.has_value()) return;
  d.usage_cores = per_wall(d.usage.value());
  const double cores = d.usage_cores.value();
  if (d.usage_of_limit.has_value()) {
    d.usage_of_limit = Outcome<double>::Value(cores / d.effective.cpus);
  }
  if (d.usage_of_host.has_value() && online > 0) {
    d.usage_of_host = Outcome<double>::Value(cores / online);
  }
}

// What the service or job used while the host was looked at. Absent: not known.
std::optional<nanoseconds> UsageInHostWindow(const WindowInputs& in, const CgroupDelta& d) {
  if (!in.job || !in.usage_before_host || !in.after || !in.after->usage) return d.usage.optional();
  return *in.after->usage - *in.usage_before_host;
}

}  // namespace

Measurement Assemble(WindowInputs in) {
  Measurement m;
  m.cgroup =
      in.after ? Subtract(in.before, *in.after)
               : WithoutSecondSnapshot(in.before, in.alive || in.job ? in.after_error : in.trouble);
  if (in.job) ToTheJobsTime(in, m.cgroup);
  m.host = Subtract(in.host_before, in.host_after, UsageInHostWindow(in, m.cgroup),
                    in.environment.online_cpus);
  m.validity = JudgeValidity(in, m.cgroup, m.host);
  m.notes = CollectNotes(in, m.cgroup, m.host);
  m.bounds = in.bounds;
  m.bounds.start_lag_p99 = StartLagBound(in);
  m.batches = BatchUses(in.load, in.timeline);
  const auto& quota = m.cgroup.effective.quota;
  m.throttled_windows = ThrottledWindows(
      in.timeline,
      quota ? quota->period : std::chrono::microseconds(std::chrono::milliseconds(100)));

  m.environment = std::move(in.environment);
  m.launcher = std::move(in.launcher);
  m.launcher_version = std::move(in.launcher_version);
  m.command = std::move(in.command);
  m.limits = std::move(in.limits);
  m.requested = std::move(in.requested);
  m.attached = in.found.has_value();
  m.plan = std::move(in.plan);
  m.request = std::move(in.request);
  m.request_kinds = std::move(in.request_kinds);
  m.is_burst_load = in.batch_size > 1;
  m.load = std::move(in.load);
  m.threads = std::move(in.threads);
  m.timeline = std::move(in.timeline);
  m.job = std::move(in.job);
  m.early = std::move(in.early);
  m.warm_up_failed = static_cast<int>(in.warm_up_failed);
  return m;
}

}  // namespace throttletest::internal
