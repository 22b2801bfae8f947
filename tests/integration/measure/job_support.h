// Jobs of job_program, run for real.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "throttletest/measure/budget.h"
#include "throttletest/measure/job.h"

namespace throttletest::test {

using namespace std::chrono_literals;

inline JobSpec Program(LauncherKind launcher, const std::vector<std::string>& flags,
                       Limits limits = {}) {
  JobSpec spec{.command = {JOB_PROGRAM}, .limits = std::move(limits), .launcher = launcher};
  spec.command.insert(spec.command.end(), flags.begin(), flags.end());
  spec.stop_grace = 100ms;
  return spec;
}

// Busy neighbours are the machine's affair; these tests are about everything else.
inline JobOptions Patient() {
  JobOptions options;
  options.bounds.max_steal = options.bounds.max_others_cpu = 1;
  options.bounds.max_own_throttled_periods = 1000;
  options.bounds.start_lag_p99 = 1s;
  options.timeout = 60s;
  return options;
}

inline double Seconds(std::chrono::nanoseconds time) {
  return std::chrono::duration<double>(time).count();
}

}  // namespace throttletest::test
