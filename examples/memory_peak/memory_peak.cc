// More CPU can lower the memory peak, because jobs overlap less.
//
// Jobs come at a fixed pace and each holds its memory while it is worked on. Under a CPU limit that
// is too small for the pace a job is not done when the next ones come, and all of them hold memory;
// under a larger limit fewer overlap. The same jobs under the two limits, beside what is published
// for limits of 1.75 and 3.5 CPUs.
#include <throttletest/throttletest.h>

#include <algorithm>
#include <cstdio>
#include <iostream>
#include <string>
#include <utility>
#include <vector>

using namespace throttletest;
using namespace std::chrono_literals;

namespace {

constexpr const char* kJob = "/burn?ms=240&mb=32";
// The service itself and up to three jobs.
constexpr ByteSize kBound = 128_MiB;

// How many requests were under way at once, at most.
int MostAtOnce(const LoadResult& load) {
  std::vector<std::pair<std::int64_t, int>> changes;
  for (const RequestRecord& r : load.records) {
    changes.emplace_back(r.sent_ns, 1);
    changes.emplace_back(r.done_ns, -1);
  }
  std::sort(changes.begin(), changes.end());
  int now = 0;
  int most = 0;
  for (const auto& [at, change] : changes) most = std::max(most, now += change);
  return most;
}

class MemoryPeak : public ThrottleTestBase {
 protected:
  Measurement MeasureUnder(double cpus) {
    Service& service = Start({.command = {BURN_SERVER, "--port={port}", "--threads=16"},
                              .limits = {.cpus = cpus, .memory = 1_GiB},
                              .ready = HttpReady("/healthz")});
    Measurement m = MeasureOn(service, Batches(1).Every(300ms).For(3s).WarmUp(0s), Get(kJob));
    service.Stop();
    return m;
  }
};

void Print(double cpus, const Measurement& m, const char* published) {
  std::printf("  %-8.4g %8d %14s %9.2f %9.0f %% %16s\n", cpus, MostAtOnce(m.load),
              ToString(ByteSize(m.cgroup.memory_peak.value())).c_str(),
              m.cgroup.usage_cores.value(), 100 * m.cgroup.throttle_ratio.value(), published);
}

TEST_F(MemoryPeak, IsLowerUnderAHigherCpuLimit) {
  const Measurement tight = MeasureUnder(0.5);
  const Measurement lifted = MeasureUnder(1.5);
  std::cout
      << "\nGET " << kJob
      << " every 300 ms for 3 s: each job burns 240 ms of CPU "
         "time and holds 32 MiB\n\n"
      << "  limit     at once    memory peak  CPUs used  throttled   published: limit, peak\n";
  Print(0.5, tight, "1.75, 5809 MiB");
  Print(1.5, lifted, " 3.5, 5315 MiB");
  std::cout << "\n";

  EXPECT_LT(lifted.cgroup.memory_peak.value(), tight.cgroup.memory_peak.value());
  EXPECT_THAT(lifted, AllOf(MemoryPeakBelow(kBound), NotOomKilled(), NoFailedRequests()));
  // The bound that holds under one limit does not under the other.
  EXPECT_THAT(tight, AllOf(Not(MemoryPeakBelow(kBound)), NotOomKilled(), NoFailedRequests()));
}

}  // namespace
