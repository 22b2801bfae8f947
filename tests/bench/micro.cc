// Micro-benchmarks of what runs beside a measurement or over its records: reading a cgroup, parsing
// control files and answers, percentiles.
//
//   build/bench/micro --benchmark_filter=snapshot
#include <benchmark/benchmark.h>

#include <chrono>
#include <cstring>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "cgroup/parse.h"
#include "client.h"
#include "limited_cgroup.h"
#include "load/http_reader.h"
#include "throttletest/base/error.h"
#include "throttletest/cgroup/sampler.h"
#include "throttletest/cgroup/snapshot.h"
#include "throttletest/load/engine.h"
#include "throttletest/load/latency.h"
#include "throttletest/load/plan.h"
#include "unit/cgroup/fake_cgroups.h"

namespace throttletest::bench {
namespace {

using benchmark::State;
using std::chrono::milliseconds;

constexpr std::string_view kStatV2 =
    "usage_usec 4123456\nuser_usec 3100000\nsystem_usec 1023456\nnice_usec 0\n"
    "core_sched.force_idle_usec 0\nnr_periods 1234\nnr_throttled 617\nthrottled_usec 31234567\n"
    "nr_bursts 0\nburst_usec 0\n";
constexpr std::string_view kStatV1 =
    "nr_periods 1234\nnr_throttled 617\nthrottled_time 31234567890\nnr_bursts 0\nburst_time 0\n";
constexpr std::string_view kPressure =
    "some avg10=12.34 avg60=5.67 avg300=1.23 total=123456789\n"
    "full avg10=10.34 avg60=4.67 avg300=1.03 total=113456789\n";
constexpr std::string_view kAnswer =
    "HTTP/1.1 200 OK\r\nServer: nginx/1.22.1\r\nDate: Mon, 30 Nov 2026 12:00:00 GMT\r\n"
    "Content-Type: application/json\r\nContent-Length: 27\r\nConnection: keep-alive\r\n\r\n"
    "{\"status\":\"ok\",\"queued\":12}";
constexpr std::string_view kChunkedAnswer =
    "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nTransfer-Encoding: chunked\r\n\r\n"
    "1b\r\n{\"status\":\"ok\",\"queued\":12}\r\n0\r\n\r\n";

void ParseStat(State& state, CgroupVersion version, std::string_view text) {
  for (auto _ : state) {
    benchmark::DoNotOptimize(internal::ParseCpuStat(version, text, "cpu.stat"));
  }
}

void ParseMax(State& state) {
  for (auto _ : state) {
    benchmark::DoNotOptimize(internal::ParseCpuMax("50000 100000\n", "cpu.max"));
  }
}

void ParsePressureFile(State& state) {
  for (auto _ : state) {
    benchmark::DoNotOptimize(internal::ParsePressure(kPressure, "cpu.pressure"));
  }
}

void ReadAnswer(State& state, std::string_view text) {
  std::vector<char> scratch(16384);
  internal::HttpReader reader(scratch);
  for (auto _ : state) {
    reader.ExpectAnswer(false);
    std::memcpy(reader.room(), text.data(), text.size());
    if (reader.Took(text.size()) != internal::HttpReader::Step::kAnswered) {
      state.SkipWithError("the answer was not read");
      return;
    }
  }
}

// Samples as they come, unsorted: sorting is most of it.
void Percentiles(State& state) {
  std::mt19937_64 random(1);
  std::lognormal_distribution<double> latency_ms(1, 0.5);
  std::vector<Latency> samples;
  for (int i = 0; i < 1'000'000; ++i) {
    samples.emplace_back(std::chrono::nanoseconds(static_cast<long>(latency_ms(random) * 1e6)));
  }
  for (auto _ : state) {
    state.PauseTiming();
    std::vector<Latency> copy = samples;
    state.ResumeTiming();
    const LatencySamples sorted(std::move(copy));
    benchmark::DoNotOptimize(sorted.At(Percentile(50)));
    benchmark::DoNotOptimize(sorted.At(Percentile(99)));
    benchmark::DoNotOptimize(sorted.At(Percentile(99.9)));
  }
}

// One run of as many requests as a very long test has, each answered at once: the engine's own work
// on a request, and whether it loses one.
void DriveMany(State& state) {
  constexpr std::int64_t kRequests = 10'000'000;
  const Schedule schedule =
      Batches(1000).Every(milliseconds(1)).For(std::chrono::seconds(10)).WarmUp({}).measured();
  for (auto _ : state) {
    LoadEngine engine(
        {}, Custom("nothing", [](const TransportCall&, const TransportDone& done) { done({}); }),
        {});
    const LoadResult result = engine.Run(schedule);
    const std::int64_t accounted = result.ok + result.failed + result.timed_out + result.not_sent;
    if (schedule.request_count() != kRequests || accounted != kRequests || result.ok == 0) {
      state.SkipWithError("the sums of ten million requests do not agree");
      return;
    }
    state.counters["requests"] = static_cast<double>(accounted);
    state.counters["ns"] = static_cast<double>(result.engine_cpu.count()) / kRequests;
  }
}

void ReadSnapshot(State& state, const Cgroup& cgroup) {
  for (auto _ : state) benchmark::DoNotOptimize(cgroup.Read());
}

void ReadQuick(State& state, const Cgroup& cgroup) {
  for (auto _ : state) benchmark::DoNotOptimize(cgroup.ReadQuick());
}

// The sampler's CPU time over the time it ran, while the cgroup's process is busy and held back.
void Sample(State& state, const Cgroup& cgroup, LimitedCgroup& limited, milliseconds interval) {
  constexpr std::chrono::seconds kTime(2);
  for (auto _ : state) {
    limited.StartWork();
    const auto start = std::chrono::steady_clock::now();
    TimelineSampler sampler(cgroup, interval);
    std::this_thread::sleep_for(kTime);
    const Timeline timeline = sampler.Stop();
    const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - start;
    limited.StopWork();
    state.counters["percent"] = std::chrono::duration<double>(timeline.own_cpu) / wall * 100;
    state.counters["samples"] = static_cast<double>(timeline.samples.size());
  }
}

// What any thread pays that wakes up this often, beside the same work: the floor of the sampler.
void WakeUp(State& state, LimitedCgroup& limited, milliseconds interval) {
  const std::int64_t interval_ns = std::chrono::nanoseconds(interval).count();
  for (auto _ : state) {
    limited.StartWork();
    std::thread sleeper([&] {
      const std::int64_t start = Now();
      for (std::int64_t next = start; next < start + 2'000'000'000; next += interval_ns) {
        const timespec until{next / 1'000'000'000, next % 1'000'000'000};
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, nullptr);
      }
      const auto wall = static_cast<double>(Now() - start);
      state.counters["percent"] =
          static_cast<double>(ReadClock(CLOCK_THREAD_CPUTIME_ID)) / wall * 100;
    });
    sleeper.join();
    limited.StopWork();
  }
}

// A leaf below the root with every file that is read. A lower bound of what v2 costs: the text of a
// plain file is there, that of a control file is made for each read.
void FillPlainV2(const FakeV2& fake) {
  const std::string path = "/service";
  fake.AddLevel(path, "50000 100000\n");
  fake.Set(path, "cpu.stat", std::string(kStatV2));
  fake.Set(path, "cpu.stat.local", "throttled_usec 31234567\n");
  fake.Set(path, "cpuset.cpus.effective", "0-7\n");
  fake.Set(path, "memory.current", "123456789\n");
  fake.Set(path, "memory.peak", "223456789\n");
  fake.Set(path, "memory.max", "268435456\n");
  fake.Set(path, "memory.swap.max", "max\n");
  fake.Set(path, "memory.events", "low 0\nhigh 0\nmax 0\noom 0\noom_kill 0\noom_group_kill 0\n");
  fake.Set(path, "cpu.pressure", std::string(kPressure));
  fake.Set(path, "memory.pressure", std::string(kPressure));
}

void RegisterParsers() {
  benchmark::RegisterBenchmark("parse/cpu.stat v1", ParseStat, CgroupVersion::kV1, kStatV1);
  benchmark::RegisterBenchmark("parse/cpu.stat v2", ParseStat, CgroupVersion::kV2, kStatV2);
  benchmark::RegisterBenchmark("parse/cpu.max", ParseMax);
  benchmark::RegisterBenchmark("parse/cpu.pressure", ParsePressureFile);
  benchmark::RegisterBenchmark("answer/with a length", ReadAnswer, kAnswer);
  benchmark::RegisterBenchmark("answer/chunked", ReadAnswer, kChunkedAnswer);
  benchmark::RegisterBenchmark("percentiles/of 1000000", Percentiles)
      ->Unit(benchmark::kMillisecond);
}

void RegisterReads(const std::string& name, const Cgroup& cgroup) {
  benchmark::RegisterBenchmark(("snapshot/" + name).c_str(),
                               [&cgroup](State& state) { ReadSnapshot(state, cgroup); });
  benchmark::RegisterBenchmark(("quick/" + name).c_str(),
                               [&cgroup](State& state) { ReadQuick(state, cgroup); });
}

void RegisterTimed(const std::string& name, std::function<void(State&)> run) {
  benchmark::RegisterBenchmark(name.c_str(), std::move(run))->Iterations(1)->UseRealTime();
}

void RegisterEngine() { RegisterTimed("engine/10000000 requests in one run", DriveMany); }

void RegisterSampler(const Cgroup& cgroup, LimitedCgroup& limited) {
  for (const milliseconds interval : {milliseconds(10), milliseconds(1)}) {
    const std::string every = "every " + std::to_string(interval.count()) + " ms";
    RegisterTimed("sampler/" + every, [&cgroup, &limited, interval](State& state) {
      Sample(state, cgroup, limited, interval);
    });
    RegisterTimed("sampler/waking up alone, " + every,
                  [&limited, interval](State& state) { WakeUp(state, limited, interval); });
  }
}

int Run() {
  RegisterParsers();
  RegisterEngine();
  const FakeV2 fake;
  FillPlainV2(fake);
  const Cgroup plain = Cgroup::Open(FakeV2::At("/service"), fake.tree.root());
  RegisterReads("v2 as plain files", plain);

  // What cannot be timed here is left out and said.
  std::unique_ptr<LimitedCgroup> limited;
  std::vector<std::unique_ptr<Cgroup>> kernel;
  try {
    limited = std::make_unique<LimitedCgroup>();
    kernel.push_back(std::make_unique<Cgroup>(Cgroup::Open(limited->location())));
    const bool v2 = limited->location().cpu->version == CgroupVersion::kV2;
    RegisterReads(v2 ? "v2" : "v1", *kernel.front());
    RegisterSampler(*kernel.front(), *limited);
    if (const auto unified = limited->Unified()) {
      kernel.push_back(std::make_unique<Cgroup>(Cgroup::Open(*unified)));
      RegisterReads("v2 without controllers", *kernel.back());
    }
  } catch (const Error& e) {
    std::fprintf(stderr, "micro: no reads of a real cgroup: %s\n", e.what());
  }
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}

}  // namespace
}  // namespace throttletest::bench

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  try {
    return throttletest::bench::Run();
  } catch (const std::exception& e) {
    std::fprintf(stderr, "micro: %s\n", e.what());
    return 1;
  }
}
