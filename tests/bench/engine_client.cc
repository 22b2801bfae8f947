// The load engine of this project, printing the same line as the floor.
//
//   build/bench/engine_client --port 8080 --size 64 --interval-us 12800 --duration-s 10
#include <chrono>
#include <exception>

#include "client.h"
#include "throttletest/load/engine.h"
#include "throttletest/load/plan.h"

namespace throttletest::bench {
namespace {

using std::chrono::nanoseconds;

Schedule ScheduleOf(int size, std::int64_t interval_ns, std::int64_t duration_ns) {
  return Batches(size)
      .Every(nanoseconds(interval_ns))
      .For(nanoseconds(duration_ns))
      .WarmUp(nanoseconds(0))
      .measured();
}

void Run(const Options& options) {
  LoadEngine engine({.port = static_cast<std::uint16_t>(options.port)}, Get(options.path), {});
  // Opens as many connections as the floor has.
  const Schedule opening = ScheduleOf(options.connections, 100'000'000, 100'000'000);
  const Schedule measured =
      ScheduleOf(options.size, options.interval_ns(), options.batches() * options.interval_ns());
  if (engine.Run(opening).ok != opening.request_count()) Die("the warm-up failed");
  const LoadResult result = engine.Run(measured);
  Outcome outcome{.answered = result.ok, .cpu_ns = result.engine_cpu.count(), .writes = {}};
  outcome.writes.reserve(result.records.size());
  for (const RequestRecord& record : result.records) {
    if (record.sent_ns >= 0) outcome.writes.push_back({record.sent_ns, record.batch});
  }
  Print("engine", options, outcome);
  for (const auto& [reason, count] : result.failure_reasons) {
    std::fprintf(stderr, "engine_client: %lld x %s\n", static_cast<long long>(count),
                 reason.c_str());
  }
}

}  // namespace
}  // namespace throttletest::bench

int main(int argc, char** argv) {
  try {
    throttletest::bench::Run(throttletest::bench::ParseOptions(argc, argv));
  } catch (const std::exception& e) {
    std::fprintf(stderr, "engine_client: %s\n", e.what());
    return 2;
  }
}
