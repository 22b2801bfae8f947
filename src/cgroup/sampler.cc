#include "throttletest/cgroup/sampler.h"

#include <fmt/format.h>
#include <semaphore.h>

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "base/thread_cpu_time.h"
#include "throttletest/base/duration.h"
#include "throttletest/base/error.h"

namespace throttletest {

using std::chrono::nanoseconds;
using std::chrono::steady_clock;

struct TimelineSampler::State {
  State(const Cgroup& watched, nanoseconds every, Cgroup::QuickMemory with)
      : cgroup(watched), memory(with) {
    timeline.interval = every;
    ::sem_init(&stop, 0, 0);
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() { ::sem_destroy(&stop); }

  void Run();
  // Returns false when there is nothing more to read.
  bool Sample();
  // Waits. True: stop.
  bool StopsBefore(steady_clock::time_point instant);

  const Cgroup& cgroup;
  const Cgroup::QuickMemory memory;
  std::mutex mutex;   // of timeline.samples
  Timeline timeline;  // but for the samples the thread's until it is joined
  // Posted to stop. A wait on it is one system call, which is what a sample costs most.
  sem_t stop;
  std::thread thread;
};

bool TimelineSampler::State::Sample() {
  try {
    const Cgroup::Quick sample = cgroup.ReadQuick(memory);
    const std::lock_guard lock(mutex);
    timeline.samples.push_back(sample);
    return true;
  } catch (const std::exception& e) {
    timeline.stopped_because = e.what();
    return false;
  }
}

bool TimelineSampler::State::StopsBefore(steady_clock::time_point instant) {
  const auto since = instant.time_since_epoch();
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(since);
  const timespec until{seconds.count(), (since - seconds).count()};
  for (;;) {
    if (::sem_clockwait(&stop, CLOCK_MONOTONIC, &until) == 0) return true;
    if (errno != EINTR) return false;
  }
}

// The schedule is absolute: a late sample does not move those after it, and instants that have
// passed meanwhile are left out instead of being read in a rush.
void TimelineSampler::State::Run() {
  const nanoseconds interval = timeline.interval;
  auto next = steady_clock::now();
  bool more = Sample();
  while (more) {
    const auto now = steady_clock::now();
    next += interval;
    if (next <= now) next += (now - next) / interval * interval + interval;
    const bool last = StopsBefore(next);
    more = Sample() && !last;
  }
  timeline.own_cpu = internal::ThreadCpuTime();
}

TimelineSampler::TimelineSampler(const Cgroup& cgroup, nanoseconds interval,
                                 Cgroup::QuickMemory memory) {
  if (interval.count() <= 0) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("sampling interval {} is not above 0", ToString(interval)));
  }
  state_ = std::make_unique<State>(cgroup, interval, memory);
  state_->thread = std::thread([state = state_.get()] { state->Run(); });
}

TimelineSampler::TimelineSampler(TimelineSampler&&) noexcept = default;

TimelineSampler& TimelineSampler::operator=(TimelineSampler&& other) noexcept {
  if (this != &other) {
    Stop();
    state_ = std::move(other.state_);
  }
  return *this;
}

TimelineSampler::~TimelineSampler() { Stop(); }

std::vector<Cgroup::Quick> TimelineSampler::Since(std::size_t first) const {
  if (!state_) return {};
  const std::lock_guard lock(state_->mutex);
  const std::vector<Cgroup::Quick>& samples = state_->timeline.samples;
  if (first >= samples.size()) return {};
  return {samples.begin() + static_cast<std::ptrdiff_t>(first), samples.end()};
}

Timeline TimelineSampler::Stop() {
  if (!state_) return {};
  ::sem_post(&state_->stop);
  state_->thread.join();
  Timeline timeline = std::move(state_->timeline);
  state_.reset();
  return timeline;
}

namespace {

// When a growth between two samples can have begun, or nothing when nothing grew.
std::optional<steady_clock::time_point> GrowthBegin(const Cgroup::Quick& before,
                                                    const Cgroup::Quick& after,
                                                    std::chrono::microseconds period) {
  if (!before.counters || !after.counters) return std::nullopt;
  const auto periods = after.counters->throttled_periods - before.counters->throttled_periods;
  const nanoseconds held = after.counters->throttled_time - before.counters->throttled_time;
  if (periods <= 0 && held.count() <= 0) return std::nullopt;
  const auto earliest = after.time - period;
  // Time is booked at release, which was after the previous sample; so it began at most `held`
  // before that sample.
  return held.count() > 0 ? std::max(earliest, before.time - held) : earliest;
}

}  // namespace

std::vector<ThrottledWindow> ThrottledWindows(const Timeline& timeline,
                                              std::chrono::microseconds period) {
  std::vector<ThrottledWindow> windows;
  for (std::size_t i = 1; i < timeline.samples.size(); ++i) {
    const Cgroup::Quick& sample = timeline.samples[i];
    const auto begin = GrowthBegin(timeline.samples[i - 1], sample, period);
    if (!begin) continue;
    if (!windows.empty() && *begin <= windows.back().end) {
      windows.back().begin = std::min(windows.back().begin, *begin);
      windows.back().end = sample.time;
    } else {
      windows.push_back({*begin, sample.time});
    }
  }
  return windows;
}

}  // namespace throttletest
