// MeasurementBuilder: a Measurement made of chosen figures, for tests of everything above counters
// and load. It goes through the same Subtract() and Assemble() as a real one.
//
//   const Measurement m = MeasurementBuilder().Quota(100ms).Throttled(277, 77, 30s).Build();
//
// Default: trusted; 8 requests every second for 20 s, each answered after 30 ms; a quota of 2 CPUs
// on 8 that never throttled in 200 periods; 4 s of CPU time in 20 s.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "load/tally.h"
#include "measure/assemble.h"
#include "throttletest/measure/measurement.h"

namespace throttletest::testing_support {

using namespace std::chrono_literals;
using std::chrono::microseconds;
using std::chrono::nanoseconds;

class MeasurementBuilder {
 public:
  MeasurementBuilder() {
    in_.environment = {"0.1.0", "6.1.0-test", "Test CPU", 8, "v2", 5000, "2026-01-01T00:00:00Z"};
    in_.launcher = "cgroup";
    in_.launcher_version = "cgroup v2";
    in_.command = {"burn_server", "--port={port}"};
    in_.request = "GET /burn?ms=20";
    in_.before.time = in_.load.epoch = Clock::time_point(1000s);
    in_.before.online = in_.requested.cpuset.value_or(CpuSet({0, 1, 2, 3, 4, 5, 6, 7}));
    in_.before.usage = 10s;
    in_.before.memory.peak = in_.before.memory.usage = 16 << 20;
    in_.before.memory.oom_kills = 0;
    CpuLevel leaf{.path = "/svc", .inode = 101, .bandwidth = CpuBandwidth{}};
    leaf.counters = BandwidthCounters{.periods = 1000, .throttled_periods = 900};
    in_.before.cpu = {leaf};
    in_.after = in_.before;
    in_.after->memory.peak = 64 << 20;  // since the first snapshot
    in_.after->memory.usage = 48 << 20;
    Quota(200ms).Throttled(200, 0, 0s).Usage(4s).Wall(20s).Batches(8, 20);
  }

  // Quota of the service itself, as asked for and in force.
  MeasurementBuilder& Quota(microseconds quota, microseconds period = 100ms,
                            microseconds burst = 0us) {
    in_.requested.cpu = CpuBandwidth{quota, period, burst};
    in_.limits = Limits{.quota = quota, .period = period};
    in_.before.cpu[0].bandwidth = in_.after->cpu[0].bandwidth = in_.requested.cpu;
    return *this;
  }
  MeasurementBuilder& NoQuota() {
    in_.requested.cpu = CpuBandwidth{};
    in_.limits = {};
    in_.before.cpu[0].bandwidth = in_.after->cpu[0].bandwidth = CpuBandwidth{};
    return *this;
  }
  MeasurementBuilder& Cpuset(const std::string& cpus) {
    in_.limits.cpuset = cpus;
    in_.requested.cpuset = in_.before.cpuset = in_.after->cpuset = CpuSet::Parse(cpus);
    return *this;
  }
  // The service was attached to, under what the builder has set so far.
  MeasurementBuilder& Attached() {
    in_.found = in_.before;
    in_.launcher = "attached";
    in_.launcher_version = "docker container web";
    in_.command = {};
    in_.limits = {};
    return *this;
  }
  // An ancestor with a quota; `throttled` of `periods` periods in the window.
  MeasurementBuilder& Ancestor(const std::string& path, microseconds quota, std::int64_t periods,
                               std::int64_t throttled) {
    CpuLevel level{.path = path, .inode = 7, .bandwidth = CpuBandwidth{quota}};
    level.counters = BandwidthCounters{};
    in_.before.cpu.push_back(level);
    level.counters = BandwidthCounters{.periods = periods, .throttled_periods = throttled};
    in_.after->cpu.push_back(level);
    return *this;
  }

  // What the window shows at the service's own level.
  MeasurementBuilder& Throttled(std::int64_t periods, std::int64_t throttled, nanoseconds time) {
    BandwidthCounters& end = *in_.after->cpu[0].counters;
    end = *in_.before.cpu[0].counters;
    end.periods += periods;
    end.throttled_periods += throttled;
    end.throttled_time += time;
    return *this;
  }
  MeasurementBuilder& Usage(nanoseconds usage) {
    in_.after->usage = *in_.before.usage + usage;
    return *this;
  }
  MeasurementBuilder& Wall(nanoseconds wall) {
    in_.after->time = in_.before.time + wall;
    return *this;
  }

  // A job that ran for so long and ended with `status`, instead of a service under load.
  MeasurementBuilder& Job(nanoseconds elapsed, int status = 0) {
    Wall(elapsed);
    in_.load.records.clear();
    in_.batch_size = 1;
    in_.plan = "run to its end";
    in_.request = "sysbench cpu run";
    in_.command = {"sysbench", "cpu", "run"};
    in_.alive = false;
    in_.job = JobRun{.elapsed = Outcome<nanoseconds>::Value(elapsed), .ran = elapsed};
    in_.job->end.exit_code = status;
    in_.job->end.oom_kills = 0;
    return *this;
  }

  // `count` batches of `size` requests, all answered after 30 ms.
  MeasurementBuilder& Batches(int size, int count, nanoseconds every = 1s) {
    in_.batch_size = size;
    in_.plan = std::to_string(size) + " requests in " + std::to_string(count) + " batches";
    every_ = every;
    in_.load.records.clear();
    for (int i = 0; i < size * count; ++i) {
      RequestRecord r;
      r.batch = static_cast<std::uint32_t>(i / size);
      r.intended_ns = (every * (i / size)).count();
      r.sent_ns = r.intended_ns;
      r.done_ns = r.intended_ns + nanoseconds(30ms).count();
      r.status = 200;
      r.fate = RequestFate::kOk;
      in_.load.records.push_back(r);
    }
    return *this;
  }
  MeasurementBuilder& Respond(std::size_t request, nanoseconds after) {
    RequestRecord& r = Record(request);
    r.done_ns = r.intended_ns + after.count();
    return *this;
  }
  // Every request's response time, in order; the load becomes one batch of that many.
  MeasurementBuilder& Responses(const std::vector<nanoseconds>& times) {
    Batches(static_cast<int>(times.size()), 1);
    for (std::size_t i = 0; i < times.size(); ++i) Respond(i, times[i]);
    return *this;
  }
  MeasurementBuilder& Fail(std::size_t request, int status, nanoseconds after,
                           const std::string& reason) {
    Respond(request, after);
    Record(request).status = static_cast<std::int16_t>(status);
    Record(request).fate = RequestFate::kFailed;
    ++in_.load.failure_reasons[reason];
    return *this;
  }
  MeasurementBuilder& TimeOut(std::size_t request, nanoseconds after) {
    Respond(request, after);
    Record(request).status = 0;
    Record(request).fate = RequestFate::kTimedOut;
    return *this;
  }
  MeasurementBuilder& NotSent(std::size_t request) {
    RequestRecord& r = Record(request);
    r.sent_ns = r.done_ns = -1;
    r.status = 0;
    r.fate = RequestFate::kNotSent;
    return *this;
  }
  MeasurementBuilder& StartLag(std::size_t request, nanoseconds lag) {
    Record(request).sent_ns = Record(request).intended_ns + lag.count();
    return *this;
  }

  // What the rest of the machine did. Units: shares of the CPU time of its 8 CPUs.
  MeasurementBuilder& Host(double others, double steal = 0) {
    others_ = others;
    steal_ = steal;
    return *this;
  }
  // The test process's own cgroup was throttled in `periods` periods.
  MeasurementBuilder& OwnThrottled(std::int64_t periods) {
    CpuLevel own{.path = "/ci/job", .inode = 9, .bandwidth = CpuBandwidth{50ms}};
    own.counters = BandwidthCounters{.periods = 500, .throttled_periods = 30};
    in_.host_before.own_levels = {own};
    own.counters->throttled_periods += periods;
    in_.host_after.own_levels = {own};
    return *this;
  }
  // In a container: a level that cannot be seen held the service and the test process for so long.
  // Absent: the kernel does not tell.
  MeasurementBuilder& BelowUnseen(std::optional<nanoseconds> service, nanoseconds own) {
    in_.before.unseen = in_.after->unseen = "the levels above /sys/fs/cgroup";
    in_.host_before.own_unseen = in_.host_after.own_unseen = in_.before.unseen;
    CpuLevel level{.path = "/", .inode = 9, .bandwidth = CpuBandwidth{}};
    level.held_time = nanoseconds(5s);
    in_.host_before.own_levels = {level};
    *level.held_time += own;
    in_.host_after.own_levels = {level};
    if (!service) return *this;
    in_.before.cpu[0].held_time = nanoseconds(0);
    in_.after->cpu[0].held_time = *service + in_.after->cpu[0].counters->throttled_time -
                                  in_.before.cpu[0].counters->throttled_time;
    return *this;
  }
  MeasurementBuilder& Threads(int threads) {
    in_.threads = Outcome<int>::Value(threads);
    return *this;
  }

  // CPU time of each batch; makes a timeline with a sample every 10 ms.
  MeasurementBuilder& BatchCpu(nanoseconds cpu) {
    batch_cpu_ = cpu;
    return *this;
  }
  // One throttled period that ends `at` after the start of `batch`; makes a timeline as well.
  MeasurementBuilder& ThrottleAt(std::int64_t batch, nanoseconds at) {
    throttles_.push_back(every_ * batch + at);
    return *this;
  }

  // For everything the setters do not reach.
  internal::WindowInputs& inputs() { return in_; }

  Measurement Build() const {
    internal::WindowInputs in = in_;
    internal::Tally(in.load);
    SetHost(in);
    if (batch_cpu_ > 0ns || !throttles_.empty()) in.timeline = MakeTimeline();
    return internal::Assemble(std::move(in));
  }

 private:
  using Clock = std::chrono::steady_clock;

  RequestRecord& Record(std::size_t request) { return in_.load.records.at(request); }

  // On top of what the service itself used.
  void SetHost(internal::WindowInputs& in) const {
    if (!in.after) return;
    const bool counted = in.before.usage && in.after->usage;
    const nanoseconds used = counted ? *in.after->usage - *in.before.usage : nanoseconds(0);
    const std::chrono::duration<double> wall = in.after->time - in.before.time;
    const auto part = [&](double share) {
      return std::chrono::duration_cast<nanoseconds>(wall * 8 * share);
    };
    in.host_before.time = in.before.time;
    in.host_before.cpu = internal::HostSnapshot::Cpu{.busy = 100s, .steal = 5s};
    in.host_after.time = in.after->time;
    in.host_after.cpu = internal::HostSnapshot::Cpu{.busy = 100s + used + part(others_),
                                                    .steal = 5s + part(steal_)};
  }

  Timeline MakeTimeline() const {
    Timeline timeline;
    timeline.interval = 10ms;
    const bool limited = in_.before.cpu[0].bandwidth->limited();
    const nanoseconds end(in_.load.records.back().intended_ns + nanoseconds(every_).count());
    for (nanoseconds t = -100ms; t <= end; t += 10ms) {
      Cgroup::Quick sample;
      sample.time = in_.load.epoch + t;
      sample.usage = UsageAt(t);
      if (limited) {
        sample.counters = BandwidthCounters{};
        sample.counters->periods = (t + 100ms) / 100ms;
        for (const nanoseconds at : throttles_) {
          if (at <= t) ++sample.counters->throttled_periods;
        }
      }
      timeline.samples.push_back(sample);
    }
    return timeline;
  }

  // A batch's CPU time is spent evenly in the 100 ms after its start.
  nanoseconds UsageAt(nanoseconds t) const {
    nanoseconds usage{0};
    std::int64_t last = -1;
    for (const RequestRecord& r : in_.load.records) {
      if (std::exchange(last, r.batch) == r.batch) continue;
      const nanoseconds since = t - nanoseconds(r.intended_ns);
      if (since > 0ns) usage += since >= 100ms ? batch_cpu_ : batch_cpu_ * (since / 1ms) / 100;
    }
    return usage;
  }

  internal::WindowInputs in_;
  nanoseconds every_ = 1s;
  nanoseconds batch_cpu_{0};
  double others_ = 0.01;
  double steal_ = 0;
  std::vector<nanoseconds> throttles_;
};

}  // namespace throttletest::testing_support
