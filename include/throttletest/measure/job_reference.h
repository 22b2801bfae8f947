// JobReference: another run of the same job, to which a budget compares the elapsed time.
#pragma once

#include <chrono>
#include <string>

#include "throttletest/base/outcome.h"
#include "throttletest/measure/environment.h"
#include "throttletest/measure/measurement.h"

namespace throttletest {

// The part of a run without limits that a ratio needs.
struct JobReference {
  // Inconclusive: the run cannot be trusted, or the job did not succeed; with the reason.
  Outcome<std::chrono::nanoseconds> elapsed = {};
  Environment environment;
  std::string launcher;
  std::string what;    // image and command, as Measurement::request
  std::string limits;  // "none"
};

// Takes it from a run. Errors: none; what is missing is in `elapsed`.
JobReference ReferenceOf(const Measurement& m);

}  // namespace throttletest
