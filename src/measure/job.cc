#include "throttletest/measure/job.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "measure/assemble.h"
#include "measure/host_reader.h"
#include "measure/oom_kills.h"
#include "service/host_turn.h"
#include "service/job_start.h"
#include "throttletest/base/duration.h"
#include "throttletest/base/error.h"

namespace throttletest {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using Clock = std::chrono::steady_clock;

constexpr nanoseconds kLook = milliseconds(100);

std::string CommandText(const JobSpec& spec) {
  std::string text = spec.image;
  for (const std::string& word : spec.command) internal::AppendItem(text, word, " ");
  return text;
}

// One run of a job.
class Runner {
 public:
  Runner(const JobSpec& spec, const JobOptions& options)
      : spec_(spec), options_(options), job_(internal::StartJob(spec, options.stop)) {}

  Measurement Run() {
    internal::WindowInputs in = Describe();
    in.host_before = host_.Read(job_.service.get());
    in.usage_before_host = UsageNow();
    TimelineSampler sampler(job_.service->cgroup(), options_.sample_interval);
    in.trouble = Await();
    const auto end = job_.begin.end->end();
    in.interrupted = !end && options_.stop.stop_requested();
    ReadEnd(end, in);
    in.host_after = host_.Read(job_.service.get());
    in.timeline = sampler.Stop();
    in.job->end = job_.service->Stop();
    if (end) in.job->end.stopped_by_us = false;
    // What was read in the instant of the end is better evidence than what was left after it.
    const auto kills = in.after ? internal::OomKillsBetween(in.before, *in.after) : std::nullopt;
    in.job->end.oom_kills = std::max(in.job->end.oom_kills, kills);
    return internal::Assemble(std::move(in));
  }

 private:
  internal::WindowInputs Describe() const {
    const Service& service = *job_.service;
    internal::WindowInputs in;
    in.environment = ReadEnvironment();
    in.launcher = LauncherName(service.launcher());
    in.launcher_version = service.launcher_version();
    in.command = spec_.command;
    in.limits = spec_.limits;
    in.requested = service.requested();
    in.plan = "run to its end";
    in.request = CommandText(spec_);
    in.bounds = options_.bounds;
    in.before = job_.begin.before;
    // A measurement is known by it.
    in.load.epoch = job_.begin.started;
    in.job = JobRun{.at_most_before = job_.begin.at_most_before, .timeout = options_.timeout};
    return in;
  }

  std::optional<nanoseconds> UsageNow() const {
    try {
      return job_.service->cgroup().ReadQuick().usage;
    } catch (const Error&) {
      return std::nullopt;  // ended
    }
  }

  // Until the job has ended, is to be stopped or has run for too long. Returns what became of the
  // process meanwhile. Absent: empty.
  std::string Await() {
    std::string trouble;
    while (!options_.stop.stop_requested()) {
      const nanoseconds left = options_.timeout - (Clock::now() - job_.begin.started);
      if (left <= nanoseconds(0)) break;
      if (job_.begin.end->Wait(std::min(left, kLook))) break;
      Report();
      if (trouble.empty()) trouble = TroubleNow();
    }
    return trouble;
  }

  std::string TroubleNow() const {
    std::string trouble = job_.service->Trouble();
    // That it ends is what is waited for.
    return job_.service->alive() ? trouble : std::string();
  }

  void Report() const {
    if (!options_.progress) return;
    const auto ms = [](nanoseconds time) {
      return std::chrono::duration_cast<milliseconds>(time).count();
    };
    options_.progress({"job", ms(Clock::now() - job_.begin.started), ms(options_.timeout)});
  }

  void ReadEnd(const std::optional<internal::SeenEnd>& end, internal::WindowInputs& in) const {
    JobRun& job = *in.job;
    in.alive = !end;
    if (!end) {
      job.timed_out = !in.interrupted;
      job.ran = Clock::now() - job_.begin.started;
      job.elapsed = Outcome<nanoseconds>::Inconclusive("the job did not end by itself");
      ReadNow(in);
      return;
    }
    job.ran = end->time - job_.begin.started;
    job.elapsed = Outcome<nanoseconds>::Value(job.ran);
    in.after = end->counters;
    in.after_error = end->lack;
    in.left = end->left;
  }

  void ReadNow(internal::WindowInputs& in) const {
    try {
      in.after = job_.service->cgroup().Read();
    } catch (const Error& e) {
      in.after_error = e.what();
    }
  }

  const JobSpec& spec_;
  const JobOptions& options_;
  internal::HostReader host_;
  internal::StartedJob job_;
};

}  // namespace

void Validate(const JobOptions& options) {
  Validate(MeasureOptions{.bounds = options.bounds,
                          .retries = options.retries,
                          .sample_interval = options.sample_interval});
  if (options.timeout <= nanoseconds(0)) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("timeout {} is not possible: it must be above 0",
                            throttletest::ToString(options.timeout)));
  }
}

Measurement RunJob(const JobSpec& spec, const JobOptions& options) {
  Validate(options);
  internal::CheckJob(spec);
  const internal::HostTurn turn(options.stop);
  std::vector<std::string> earlier;
  for (int attempt = 1;; ++attempt) {
    Measurement m = Runner(spec, options).Run();
    m.attempt = attempt;
    if (attempt > options.retries || !internal::WorthRetrying(m.validity)) {
      m.notes.insert(m.notes.begin(), earlier.begin(), earlier.end());
      if (!turn.note().empty()) m.notes.push_back(turn.note());
      return m;
    }
    earlier.push_back(
        fmt::format("attempt {} was inconclusive: {}", attempt, m.validity.ToString()));
  }
}

}  // namespace throttletest
