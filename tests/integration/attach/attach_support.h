// Shared by the tests that attach to a service.
#pragma once

#include <cstring>
#include <functional>
#include <string>
#include <utility>

#include "throttletest/base/error.h"
#include "throttletest/measure/measure.h"
#include "throttletest/service/attach.h"

namespace throttletest::test {

// Start lag and busy neighbours are the machine's affair; these tests are about everything else.
inline MeasureOptions Patient() {
  MeasureOptions options;
  options.bounds.start_lag_p99 = std::chrono::seconds(10);
  options.bounds.max_steal = options.bounds.max_others_cpu = 1;
  options.bounds.min_periods = 5;
  return options;
}

// Does `act` once during the load, after some requests.
inline MeasureOptions Meanwhile(std::function<void()> act) {
  MeasureOptions options = Patient();
  options.progress = [act = std::move(act), done = false](const MeasureProgress& p) mutable {
    if (done || std::strcmp(p.phase, "load") != 0 || p.done < 4) return;
    done = true;
    act();
  };
  return options;
}

// "not_ready: cannot attach to ...", or "accepted".
inline std::string Refusal(const AttachSpec& spec) {
  try {
    AttachService(spec);
    return "accepted";
  } catch (const Error& error) {
    return std::string(ErrorCodeName(error.code())) + ": " + error.what();
  }
}

}  // namespace throttletest::test
