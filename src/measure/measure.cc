#include "throttletest/measure/measure.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "measure/assemble.h"
#include "measure/early_judge.h"
#include "measure/host_reader.h"
#include "measure/phase.h"
#include "measure/thread_count.h"
#include "service/host_turn.h"
#include "throttletest/base/duration.h"
#include "throttletest/base/error.h"
#include "throttletest/load/engine.h"

namespace throttletest {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;

// Waits; a stop request ends the wait.
void WaitFor(nanoseconds duration, const std::stop_token& stop) {
  std::mutex mutex;
  std::condition_variable_any never;
  std::unique_lock lock(mutex);
  never.wait_for(lock, stop, duration, [] { return false; });
}

// The last lines of a service's log, for an error message.
std::string LastLines(const std::string& log, int lines) {
  std::size_t from = log.size();
  if (from > 0 && log.back() == '\n') --from;
  for (int i = 0; i < lines && from != std::string::npos && from > 0; ++i) {
    from = log.rfind('\n', from - 1);
  }
  return log.substr(from == std::string::npos ? 0 : from);
}

// A change of limits is booked, and a throttle in progress released, within one period.
nanoseconds SettleTime(const Snapshot& snapshot) {
  const auto quota = snapshot.EffectiveCpu().quota;
  if (!quota || !quota->limited()) return milliseconds(100);
  return std::min<nanoseconds>(quota->period, std::chrono::seconds(1));
}

Endpoint EndpointAt(std::uint16_t port, const MeasureOptions& options) {
  return {.port = port, .unix_path = options.unix_path, .tls = options.tls};
}

// What the machine did meanwhile can only be judged in a window of a second or more.
constexpr nanoseconds kShortestLoad = std::chrono::seconds(1);

// The period the service's own quota is enforced in. Absent: it has none.
std::optional<nanoseconds> PeriodOf(const Service& service) {
  const CpuBandwidth& cpu = service.requested().cpu;
  if (!cpu.limited()) return std::nullopt;
  return cpu.period;
}

// An early decision takes the batches for cases of their own, so they must not all be the same one.
Schedule MeasuredOf(const Service& service, const Traffic& traffic, const MeasureOptions& options) {
  Schedule schedule = traffic.measured();
  const auto period = PeriodOf(service);
  if (!options.until_decided || !period || !internal::IsInPhase(schedule, *period)) return schedule;
  return internal::OutOfPhase(schedule, *period);
}

// One service under one load: owns the engine, so that connections stay open from the warm-up to
// the last attempt.
class Runner {
 public:
  Runner(Service& service, const Traffic& traffic, const MeasureOptions& options)
      : service_(service),
        traffic_(traffic),
        options_(options),
        measured_(MeasuredOf(service, traffic, options)),
        warm_up_(traffic.warm_up()),
        on_stop_(options.stop, [this] { stop_.request_stop(); }),
        engine_(EndpointAt(service.port(), options), traffic.requests(), EngineOptions()) {}

  Measurement Run() {
    internal::WindowInputs in = Describe();
    WarmUp(in);
    in.before = OpenWindow(in);
    in.host_before = host_.Read(&service_);
    in.background_before = internal::LookAtBackgroundLoads();
    TimelineSampler sampler(
        service_.cgroup(), options_.sample_interval,
        in.peak_restarted ? Cgroup::QuickMemory::kLeftOut : Cgroup::QuickMemory::kRead);
    phase_ = "load";
    Watch watch(*this, sampler, in.before);
    in.load = engine_.Run(measured_, stop_.get_token());
    in.early = watch.Verdicts();
    Report("drain", in.load.planned, in.load.planned);
    if (service_.alive()) WaitFor(SettleTime(in.before), options_.stop);
    in.timeline = sampler.Stop();
    CloseWindow(in);
    return internal::Assemble(std::move(in));
  }

 private:
  // Looks whether the budgets of a run are decided; on the engine's thread while the load runs.
  class Watch {
   public:
    Watch(Runner& runner, const TimelineSampler& sampler, const Snapshot& before)
        : runner_(runner), sampler_(sampler) {
      const auto& wanted = runner.options_.until_decided;
      if (!wanted) return;
      judge_.emplace(wanted->budgets, wanted->error_rate, runner.measured_,
                     std::max(SettleTime(before), runner.options_.sample_interval * 5),
                     runner.options_.bounds.min_periods);
      runner.watch_ = this;
    }
    ~Watch() { runner_.watch_ = nullptr; }
    Watch(const Watch&) = delete;
    Watch& operator=(const Watch&) = delete;

    bool Enough(const LoadResult& load) {
      const std::vector<Cgroup::Quick> fresh = sampler_.Since(samples_.size());
      samples_.insert(samples_.end(), fresh.begin(), fresh.end());
      judge_->Look(load, samples_);
      duration_ = std::chrono::steady_clock::now() - load.epoch;
      ended_early_ = judge_->decided() && duration_ >= kShortestLoad;
      return ended_early_;
    }
    std::optional<EarlyVerdicts> Verdicts() const {
      if (!judge_) return std::nullopt;
      EarlyVerdicts verdicts = judge_->Verdicts(duration_);
      verdicts.ended_early = ended_early_;
      return verdicts;
    }

   private:
    Runner& runner_;
    const TimelineSampler& sampler_;
    std::vector<Cgroup::Quick> samples_;
    std::optional<internal::EarlyJudge> judge_;
    nanoseconds duration_{0};
    bool ended_early_ = false;
  };

  LoadEngineOptions EngineOptions() {
    LoadEngineOptions engine;
    engine.max_in_flight = traffic_.max_in_flight();
    // Runs on the engine's thread. A dead service is not loaded to the end of the plan.
    engine.progress = [this](std::int64_t done, std::int64_t planned) {
      Report(phase_, done, planned);
      if (!service_.alive()) stop_.request_stop();
    };
    if (options_.until_decided) {
      engine.enough = [this](const LoadResult& so_far) {
        return watch_ != nullptr && watch_->Enough(so_far);
      };
    }
    return engine;
  }

  void Report(const char* phase, std::int64_t done, std::int64_t planned) {
    if (options_.progress) options_.progress({phase, done, planned});
  }

  internal::WindowInputs Describe() const {
    internal::WindowInputs in;
    in.environment = ReadEnvironment();
    in.launcher = LauncherName(service_.launcher());
    in.launcher_version = service_.launcher_version();
    in.service = service_.spec().name;
    in.command = service_.spec().command;
    in.limits = service_.spec().limits;
    in.requested = service_.requested();
    if (const Snapshot* found = service_.found()) in.found = *found;
    in.plan = traffic_.PlanText();
    in.request = traffic_.RequestText();
    for (const Request& request : traffic_.requests()) {
      in.request_kinds.push_back(request.ToString());
    }
    in.batch_size = measured_.largest_batch();
    const auto period = PeriodOf(service_);
    in.in_phase = period && in.batch_size > 1 && internal::IsInPhase(measured_, *period);
    in.moved = measured_.batches() != traffic_.measured().batches();
    in.bounds = options_.bounds;
    return in;
  }

  void WarmUp(internal::WindowInputs& in) {
    phase_ = "warm-up";
    if (traffic_.has_warm_up()) {
      const LoadResult result = engine_.Run(warm_up_, stop_.get_token());
      in.warm_up_failed = result.failed + result.timed_out;
      in.warm_up_planned = result.planned;
    }
    RequireService();
  }

  // Throws unless the window can be opened.
  void RequireService() const {
    if (options_.stop.stop_requested()) {
      throw Error(ErrorCode::kInterrupted, "interrupted during the warm-up: nothing was measured");
    }
    const std::string trouble = service_.Trouble();
    if (!service_.alive()) {
      throw Error(ErrorCode::kNotReady,
                  fmt::format("service ended during warm-up: {}\n{}",
                              trouble.empty() ? "no exit status is known" : trouble,
                              LastLines(service_.logs(), 10)));
    }
    if (!trouble.empty()) {
      throw Error(ErrorCode::kCgroup, "service cannot be measured: " + trouble);
    }
  }

  // What the warm-up left throttled is booked before the window opens.
  Snapshot OpenWindow(internal::WindowInputs& in) {
    try {
      if (traffic_.has_warm_up()) {
        WaitFor(SettleTime(service_.cgroup().Read()), options_.stop);
      }
      RequireService();
      in.peak_restarted = RestartPeak();
      return service_.cgroup().Read();
    } catch (const Error&) {
      RequireService();  // a service that has just ended is the better reason
      throw;
    }
  }

  // The peak of a window of its own. On v1 everybody's mark is set back, so not that of a service
  // that is somebody else's.
  bool RestartPeak() const {
    const auto& memory = service_.cgroup().location().memory;
    const bool others_see_it = memory && memory->version == CgroupVersion::kV1;
    if (others_see_it && service_.found() != nullptr) return false;
    return service_.cgroup().RestartPeak();
  }

  void CloseWindow(internal::WindowInputs& in) {
    in.host_after = host_.Read(&service_);
    in.background_after = internal::LookAtBackgroundLoads();
    in.threads = internal::CountThreads(service_.cgroup());
    try {
      in.after = service_.cgroup().Read();
    } catch (const Error& e) {
      in.after_error = e.what();
      // The cgroup of a process that has just ended goes before its exit status is collected.
      for (int i = 0; i < 50 && service_.alive(); ++i) {
        std::this_thread::sleep_for(milliseconds(10));
      }
    }
    in.trouble = service_.Trouble();
    in.alive = service_.alive();
    if (!in.alive && in.trouble.empty()) in.trouble = service_.Trouble();
    in.interrupted = options_.stop.stop_requested();
  }

  Service& service_;
  const Traffic traffic_;
  const MeasureOptions& options_;
  const Schedule measured_;
  const Schedule warm_up_;
  std::stop_source stop_;
  std::stop_callback<std::function<void()>> on_stop_;
  std::atomic<const char*> phase_ = "";
  Watch* watch_ = nullptr;  // of the run under way; none during the warm-up
  LoadEngine engine_;
  internal::HostReader host_;
};

void Validate(const UntilDecided& wanted) {
  if (wanted.budgets.empty()) {
    throw Error(ErrorCode::kInvalidArgument,
                "a measurement until decided needs a budget to decide: give at least one");
  }
  if (!(wanted.error_rate > 0 && wanted.error_rate < 0.5)) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("error rate {} is not possible: it must be above 0 and below 0.5, for "
                            "example 0.05 for 5 %",
                            wanted.error_rate));
  }
}

}  // namespace

void Validate(const MeasureOptions& options) {
  Validate(options.bounds);
  if (options.retries < 0) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("retries {} is not possible: it must be 0 or more", options.retries));
  }
  if (options.sample_interval <= nanoseconds(0)) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("timeline sample interval {} is not possible: it must be above 0",
                            ToString(options.sample_interval)));
  }
  if (options.until_decided) Validate(*options.until_decided);
  Validate(EndpointAt(1, options));
}

void Validate(const Traffic& traffic, const MeasureOptions& options) {
  Validate(options);
  if (!options.until_decided || traffic.is_steady()) return;
  throw Error(ErrorCode::kInvalidArgument,
              fmt::format("\"{}\" cannot be measured until decided: its load changes, so its "
                          "beginning says nothing about its end; use one stream of one phase",
                          traffic.PlanText()));
}

Measurement MeasureService(Service& service, const LoadPlan& plan, const Request& request,
                           const MeasureOptions& options) {
  return MeasureService(service, Traffic(plan, request), options);
}

Measurement MeasureService(Service& service, const Traffic& traffic,
                           const MeasureOptions& options) {
  Validate(traffic, options);
  const internal::HostTurn turn(options.stop);
  Runner runner(service, traffic, options);
  std::vector<std::string> earlier;
  for (int attempt = 1;; ++attempt) {
    Measurement m = runner.Run();
    m.attempt = attempt;
    if (attempt > options.retries || !internal::WorthRetrying(m.validity) || !service.alive()) {
      m.notes.insert(m.notes.begin(), earlier.begin(), earlier.end());
      if (!turn.note().empty()) m.notes.push_back(turn.note());
      return m;
    }
    earlier.push_back(
        fmt::format("attempt {} was inconclusive: {}", attempt, m.validity.ToString()));
  }
}

}  // namespace throttletest
