#include "throttletest/load/engine.h"

#include <fmt/format.h>
#include <pthread.h>

#include <algorithm>
#include <csignal>
#include <exception>
#include <thread>
#include <utility>

#include "base/realtime_priority.h"
#include "base/thread_cpu_time.h"
#include "load/call_transport.h"
#include "load/clock.h"
#include "load/dispatcher.h"
#include "load/http_transport.h"
#include "load/poller.h"
#include "load/request_text.h"
#include "load/tally.h"
#include "throttletest/base/error.h"

namespace throttletest {
namespace {

using internal::kNever;
using internal::ThreadCpuTime;
using std::chrono::steady_clock;

constexpr std::int64_t kProgressInterval = 100'000'000;

constexpr int kAnswersPerTurn = 256;

class SteadyClock : public internal::Clock {
 public:
  void SetEpoch(steady_clock::time_point epoch) { epoch_ = epoch; }
  std::int64_t Now() const override { return (steady_clock::now() - epoch_).count(); }
  steady_clock::time_point At(std::int64_t ns) const {
    return ns == kNever ? internal::Poller::kForever : epoch_ + std::chrono::nanoseconds(ns);
  }

 private:
  steady_clock::time_point epoch_;
};

LoadEngineOptions Validated(LoadEngineOptions options) {
  if (options.max_in_flight < 1) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("in-flight limit {} must be at least 1", options.max_in_flight));
  }
  if (options.late_after.count() <= 0) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("late_after of {} ns must be above 0", options.late_after.count()));
  }
  if (options.lead.count() < 0) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("lead of {} ns must not be negative", options.lead.count()));
  }
  return options;
}

std::vector<Request> Validated(std::vector<Request> requests) {
  if (requests.empty()) throw Error(ErrorCode::kInvalidArgument, "no request to send: give one");
  for (const Request& request : requests) {
    Validate(request);
    if (static_cast<bool>(request.transport) != static_cast<bool>(requests.front().transport)) {
      throw Error(
          ErrorCode::kInvalidArgument,
          fmt::format("{} is HTTP and {} is not: one run drives one or the other",
                      request.transport ? requests.front().ToString() : request.ToString(),
                      request.transport ? request.ToString() : requests.front().ToString()));
    }
  }
  return requests;
}

internal::HttpExchange ExchangeOf(const Request& request, const Endpoint& endpoint) {
  return {.request_text = internal::RequestText(request, endpoint),
          .no_body = request.method == "HEAD",
          .close = internal::AsksToClose(request),
          .body_text = request.expected_body};
}

std::unique_ptr<internal::Transport> MakeTransport(internal::Poller& poller,
                                                   const Endpoint& endpoint,
                                                   const std::vector<Request>& requests) {
  if (requests.front().transport) {
    std::vector<Transport> transports;
    transports.reserve(requests.size());
    for (const Request& request : requests) transports.push_back(request.transport);
    return std::make_unique<internal::CallTransport>(
        std::move(transports),
        [&poller](std::function<void()> act) { poller.Post(std::move(act)); });
  }
  std::vector<internal::HttpExchange> exchanges;
  exchanges.reserve(requests.size());
  for (const Request& request : requests) exchanges.push_back(ExchangeOf(request, endpoint));
  return std::make_unique<internal::HttpTransport>(poller, endpoint, std::move(exchanges));
}

// Signals go to the program's own threads: a handler must not run in the middle of the schedule.
std::thread StartWithoutSignals(std::function<void()> body) {
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    std::thread thread(std::move(body));
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    return thread;
  } catch (...) {
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    throw;
  }
}

}  // namespace

struct LoadEngine::State {
  State(const Endpoint& endpoint, std::vector<Request> wanted, LoadEngineOptions wanted_options)
      : requests(Validated(std::move(wanted))),
        options(Validated(std::move(wanted_options))),
        transport(MakeTransport(poller, endpoint, requests)),
        dispatcher(
            requests,
            {.max_in_flight = options.max_in_flight, .late_after_ns = options.late_after.count()},
            clock, *transport) {}

  void RunOnThisThread(const Schedule& schedule, const std::stop_token& stop, LoadResult& result);
  void ReleasePunctually(std::int64_t start);
  bool AnswerUntil(std::int64_t watch);
  void ReportProgress(const LoadResult& result);

  const std::vector<Request> requests;
  const LoadEngineOptions options;
  SteadyClock clock;
  // One thread runs it at a time; others only post to it.
  internal::Poller poller;
  const std::unique_ptr<internal::Transport> transport;
  internal::Dispatcher dispatcher;
  std::int64_t progress_at_ns = kNever;
  bool ended = false;  // options.enough ended the schedule and is not asked again
};

void LoadEngine::State::ReportProgress(const LoadResult& result) {
  if (dispatcher.seen_ns() < progress_at_ns) return;
  progress_at_ns = dispatcher.seen_ns() + kProgressInterval;
  if (options.progress) {
    options.progress(dispatcher.done_count(), static_cast<std::int64_t>(result.records.size()));
  }
  if (options.enough && !ended && !dispatcher.Done() && options.enough(result)) {
    dispatcher.EndSchedule();
    ended = true;
  }
}

// Half a millisecond at most, and the writing of a batch, so that the service does not miss the
// CPU. At an ordinary priority the kernel moves the service onto the writer's CPU with the first
// request, and hands it that CPU when the writer's time slice of some 3 ms is over: the rest of a
// batch of 512 then waits 4 ms.
void LoadEngine::State::ReleasePunctually(std::int64_t start) {
  const internal::RealtimePriority priority;
  while (clock.Now() < start) {
    if (poller.PollOne() && dispatcher.NextWake() != start) return;
  }
  dispatcher.OnTime();
}

// Returns false when OnTime() is due.
bool LoadEngine::State::AnswerUntil(std::int64_t watch) {
  bool called = false;
  if (watch > dispatcher.seen_ns()) {
    called = poller.RunOne(clock.At(std::min(watch, progress_at_ns)));
  } else {
    // Catching up: the answers that are already here come before the requests still due.
    for (int i = 0; i < kAnswersPerTurn && poller.PollOne(); ++i) {
    }
  }
  return called && dispatcher.seen_ns() < dispatcher.NextWake();
}

void LoadEngine::State::RunOnThisThread(const Schedule& schedule, const std::stop_token& stop,
                                        LoadResult& result) {
  const std::chrono::nanoseconds cpu_before = ThreadCpuTime();
  // Filling in the records takes a while for millions of them, so the epoch is set after that.
  dispatcher.Begin(schedule, options.lead.count(), result);
  result.epoch = steady_clock::now() + options.lead;
  clock.SetEpoch(result.epoch);
  ended = false;
  progress_at_ns = options.progress || options.enough ? -options.lead.count() : kNever;
  // It only ends the wait; the token says the rest.
  const std::stop_callback wake(stop, [this] { poller.Wake(); });
  if (!stop.stop_requested()) dispatcher.OnTime();
  while (!dispatcher.Done()) {
    if (stop.stop_requested()) {
      result.interrupted = true;
      dispatcher.Interrupt();
      break;
    }
    const std::int64_t next = dispatcher.NextWake();
    const std::int64_t watch = dispatcher.NextWatch();
    if (watch <= dispatcher.seen_ns() && next > dispatcher.seen_ns()) {
      ReleasePunctually(next);
    } else if (!AnswerUntil(watch)) {
      dispatcher.OnTime();
    }
    ReportProgress(result);
  }
  if (options.progress) {
    progress_at_ns = dispatcher.seen_ns();
    ReportProgress(result);
  }
  result.engine_cpu = ThreadCpuTime() - cpu_before;
}

LoadEngine::LoadEngine(const Endpoint& endpoint, Request request, LoadEngineOptions options)
    : LoadEngine(endpoint, std::vector<Request>{std::move(request)}, std::move(options)) {}
LoadEngine::LoadEngine(const Endpoint& endpoint, std::vector<Request> requests,
                       LoadEngineOptions options)
    : state_(std::make_unique<State>(endpoint, std::move(requests), std::move(options))) {}
LoadEngine::LoadEngine(LoadEngine&&) noexcept = default;
LoadEngine& LoadEngine::operator=(LoadEngine&&) noexcept = default;
LoadEngine::~LoadEngine() = default;

LoadResult LoadEngine::Run(const Schedule& schedule, std::stop_token stop) {
  for (std::int64_t i = 0; i < schedule.request_count(); ++i) {
    if (schedule.KindOf(i) < state_->requests.size()) continue;
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("the schedule asks for request {} of {}", schedule.KindOf(i),
                            state_->requests.size()));
  }
  LoadResult result;
  std::exception_ptr error;
  std::thread thread = StartWithoutSignals([&] {
    pthread_setname_np(pthread_self(), "throttletest-ld");
    try {
      state_->RunOnThisThread(schedule, stop, result);
    } catch (...) {
      error = std::current_exception();
    }
  });
  thread.join();
  if (error) {
    try {
      std::rethrow_exception(error);
    } catch (const Error&) {
      throw;
    } catch (const std::exception& e) {
      throw Error(ErrorCode::kLoad, fmt::format("the load engine failed: {}", e.what()));
    }
  }
  internal::Tally(result);
  return result;
}

}  // namespace throttletest
