// What throttletest::main does, for test programs with a main of their own.
//
//   int main(int argc, char** argv) {
//     testing::InitGoogleTest(&argc, argv);
//     throttletest::InitThrottletest(&argc, argv);
//     return RUN_ALL_TESTS();
//   }
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "throttletest/service/service_spec.h"

namespace throttletest {

// Settings of a test program. Flags win over environment variables.
struct Flags {
  // --throttletest_launcher=auto|cgroup|docker|podman, THROTTLETEST_LAUNCHER. Absent: as the spec
  // says.
  std::optional<LauncherKind> launcher;
  // --throttletest_json_dir=DIR: every measurement is written there as SUITE.TEST[.n].json.
  std::string json_dir;
  // --throttletest_skip_inconclusive: an inconclusive measurement skips instead of failing.
  bool skip_inconclusive = false;
  // --throttletest_retries=N: overrides MeasureOptions::retries.
  std::optional<int> retries;
  // --throttletest_max_start_lag=DURATION: overrides ValidityBounds::start_lag_p99, for a machine
  // that is too slow for the bound in the source, such as an emulated one.
  std::optional<std::chrono::nanoseconds> max_start_lag;
  // --throttletest_baseline_file=FILE, THROTTLETEST_BASELINE_FILE: where all baselines are. Absent:
  // empty, throttletest_baselines.json beside the source that names the baseline.
  std::string baseline_file;
  // --throttletest_update_baselines: NoWorseThan(...) writes the run into the file and passes.
  bool update_baselines = false;
};
const Flags& GetFlags();

// Takes throttletest's flags out of argv, reads the environment and adds the listener that prints
// one line per measurement. Errors: prints one line and exits with status 2 on a bad flag.
void InitThrottletest(int* argc, char** argv);

}  // namespace throttletest
