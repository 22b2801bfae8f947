#include "throttletest/measure/background_load.h"

#include <fmt/format.h>
#include <pthread.h>

#include <atomic>
#include <condition_variable>
#include <csignal>
#include <exception>
#include <functional>
#include <mutex>
#include <stop_token>
#include <thread>
#include <utility>
#include <vector>

#include "base/refuse.h"
#include "measure/background_loads.h"
#include "measure/oom_kills.h"
#include "service/host_turn.h"
#include "service/service_name.h"
#include "throttletest/base/error.h"
#include "throttletest/load/engine.h"

namespace throttletest {
namespace {

using std::chrono::nanoseconds;
using std::chrono::steady_clock;

// From the start of a repetition to its first request: enough for its connections, which are open
// already but for the first time.
constexpr nanoseconds kLead = std::chrono::milliseconds(50);

// Waits; a stop request ends the wait.
void WaitUntil(steady_clock::time_point instant, const std::stop_token& stop) {
  std::mutex mutex;
  std::condition_variable_any never;
  std::unique_lock lock(mutex);
  never.wait_until(lock, stop, instant, [] { return false; });
}

std::vector<Request> RequestsFor(const Traffic& traffic, const Service& service) {
  if (!service.alive()) {
    const std::string how = service.Trouble();
    throw Error(ErrorCode::kNotReady,
                fmt::format("service \"{}\" cannot be loaded in the background: {}",
                            internal::ServiceName(service), how.empty() ? "it has ended" : how));
  }
  return traffic.requests();
}

}  // namespace

struct BackgroundLoad::State {
  State(Service& loaded, const Traffic& load, const BackgroundOptions& options);
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State();

  void Run();
  // Ends the thread; `give_up` also what is under way.
  void End(bool give_up);
  std::string Trouble() const;
  std::string Unanswered() const;
  BackgroundUse Describe();

  LoadEngineOptions EngineOptions() {
    LoadEngineOptions wanted;
    wanted.max_in_flight = traffic.max_in_flight();
    wanted.lead = kLead;
    // Runs on the engine's thread. A dead service is not loaded to the end of the plan.
    wanted.enough = [this](const LoadResult& so_far) {
      Count(so_far);
      return Stopping();
    };
    return wanted;
  }
  // What has been answered of the repetition under way.
  void Count(const LoadResult& so_far);
  bool Stopping() const { return stop.stop_requested() || !service.alive(); }

  Service& service;
  const Traffic traffic;
  const Schedule schedule;
  const internal::HostTurn turn{std::stop_token()};
  LoadEngine engine;
  std::uint64_t id = 0;
  std::optional<Snapshot> before;
  std::stop_source stop;     // nothing further is sent
  std::stop_source give_up;  // nothing is waited for
  std::exception_ptr failure;
  std::atomic<bool> failed = false;
  mutable std::mutex mutex;        // of the counts in `use`, and of the next two
  std::int64_t ok_so_far = 0;      // of the repetition under way, which is not in `use` yet
  std::int64_t failed_so_far = 0;  // timed out included
  BackgroundUse use;
  bool described = false;
  std::thread thread;
};

namespace internal {
namespace {

struct Loads {
  std::mutex mutex;
  std::uint64_t last_id = 0;
  std::vector<std::pair<std::uint64_t, std::function<BackgroundLook()>>> looks;
};

// Never destroyed: a load may be a static object of a test program.
Loads& TheLoads() {
  static Loads& loads = *new Loads;
  return loads;
}

std::uint64_t List(std::function<BackgroundLook()> look) {
  Loads& loads = TheLoads();
  const std::scoped_lock lock(loads.mutex);
  loads.looks.emplace_back(++loads.last_id, std::move(look));
  return loads.last_id;
}

void Unlist(std::uint64_t id) {
  Loads& loads = TheLoads();
  const std::scoped_lock lock(loads.mutex);
  std::erase_if(loads.looks, [id](const auto& entry) { return entry.first == id; });
}

}  // namespace

std::vector<BackgroundLook> LookAtBackgroundLoads() {
  Loads& loads = TheLoads();
  // Held while looking, so that none is destroyed meanwhile.
  const std::scoped_lock lock(loads.mutex);
  std::vector<BackgroundLook> looks;
  for (const auto& [id, look] : loads.looks) {
    looks.push_back(look());
    looks.back().id = id;
  }
  return looks;
}

}  // namespace internal

BackgroundLoad::State::State(Service& loaded, const Traffic& load, const BackgroundOptions& options)
    : service(loaded),
      traffic(load),
      schedule(traffic.measured()),
      engine({.port = service.port(), .unix_path = options.unix_path, .tls = options.tls},
             RequestsFor(traffic, service), EngineOptions()) {
  use.service = internal::ServiceName(service);
  use.load = fmt::format("{} of {}", traffic.PlanText(), traffic.RequestText());
  before = service.cgroup().Read();
  // Signals go to the program's own threads.
  sigset_t all;
  sigset_t earlier;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &earlier);
  thread = std::thread([this] { Run(); });
  ::pthread_sigmask(SIG_SETMASK, &earlier, nullptr);
  id = internal::List([this] {
    return internal::BackgroundLook{
        .id = 0, .service = use.service, .load = use.load, .trouble = Trouble()};
  });
}

BackgroundLoad::State::~State() { End(true); }

void BackgroundLoad::State::Run() {
  try {
    while (!Stopping()) {
      const LoadResult result = engine.Run(schedule, give_up.get_token());
      {
        const std::scoped_lock lock(mutex);
        use.sent += result.sent;
        use.ok += result.ok;
        use.failed += result.failed;
        use.timed_out += result.timed_out;
        use.not_sent += result.not_sent;
        ok_so_far = failed_so_far = 0;
      }
      WaitUntil(result.epoch + traffic.length(), stop.get_token());
    }
  } catch (...) {
    failure = std::current_exception();
    failed = true;
  }
}

void BackgroundLoad::State::End(bool without_waiting) {
  internal::Unlist(id);
  stop.request_stop();
  if (without_waiting) give_up.request_stop();
  if (thread.joinable()) thread.join();
}

void BackgroundLoad::State::Count(const LoadResult& so_far) {
  std::int64_t ok = 0;
  std::int64_t failures = 0;
  for (const RequestRecord& record : so_far.records) {
    if (record.fate == RequestFate::kOk) ++ok;
    if (record.fate == RequestFate::kFailed || record.fate == RequestFate::kTimedOut) ++failures;
  }
  const std::scoped_lock lock(mutex);
  ok_so_far = ok;
  failed_so_far = failures;
}

// A neighbour that mostly refuses does not do the work that was to be beside. Absent: empty, also
// while nothing has been answered yet.
std::string BackgroundLoad::State::Unanswered() const {
  const std::scoped_lock lock(mutex);
  const std::int64_t ok = use.ok + ok_so_far;
  const std::int64_t asked = use.sent + ok_so_far + failed_so_far + (Stopping() ? 0 : use.not_sent);
  if (ok * 2 > asked || asked == 0) return {};
  if (ok == 0) return fmt::format("none of its {} requests was answered as it should be", asked);
  return fmt::format("only {} of its {} requests were answered as they should be", ok, asked);
}

std::string BackgroundLoad::State::Trouble() const {
  if (failed) return "the load engine failed";
  std::string trouble = service.Trouble();
  if (!service.alive()) {
    return "its service has ended: " + (trouble.empty() ? "no exit status is known" : trouble);
  }
  if (!trouble.empty()) return trouble;
  try {
    const auto kills = internal::OomKillsBetween(*before, service.cgroup().Read()).value_or(0);
    if (kills > 0) {
      return fmt::format("a process of its service was OOM-killed ({} kill{})", kills,
                         kills == 1 ? "" : "s");
    }
  } catch (const Error& error) {
    return error.what();
  }
  return Unanswered();
}

// After its end.
BackgroundUse BackgroundLoad::State::Describe() {
  if (std::exchange(described, true)) return use;
  use.trouble = Trouble();
  try {
    use.cgroup = Subtract(*before, service.cgroup().Read());
  } catch (const Error& error) {
    if (use.trouble.empty()) use.trouble = error.what();
  }
  if (use.trouble.empty() && use.sent == 0) use.trouble = "none of its requests was sent";
  return use;
}

BackgroundLoad::BackgroundLoad(Service& service, const Traffic& traffic,
                               const BackgroundOptions& options)
    : state_(std::make_unique<State>(service, traffic, options)) {
  WaitUntil(steady_clock::now() + kLead, state_->stop.get_token());
}
BackgroundLoad::BackgroundLoad(BackgroundLoad&&) noexcept = default;
BackgroundLoad& BackgroundLoad::operator=(BackgroundLoad&&) noexcept = default;
BackgroundLoad::~BackgroundLoad() = default;

BackgroundUse BackgroundLoad::Stop() {
  if (!state_) internal::Refuse("a background load that was moved from cannot be stopped");
  state_->End(false);
  if (state_->failure) std::rethrow_exception(state_->failure);
  return state_->Describe();
}

std::string BackgroundUse::ToString() const {
  std::string text = fmt::format("\"{}\" ", service);
  if (cgroup.usage_cores.has_value()) {
    text += fmt::format("used {:.2f} of {:.4g} CPUs", cgroup.usage_cores.value(),
                        cgroup.effective.cpus);
  } else {
    text += "used CPU time that is not known";
  }
  if (cgroup.throttled_periods.has_value() && cgroup.periods.has_value()) {
    text += fmt::format(", throttled in {} of {} periods", cgroup.throttled_periods.value(),
                        cgroup.periods.value());
  }
  return text + fmt::format(", {} of {} requests answered", ok, sent);
}

}  // namespace throttletest
