#include "throttletest/measure/job_reference.h"

#include <fmt/format.h>

namespace throttletest {
namespace {

using Elapsed = Outcome<std::chrono::nanoseconds>;

Elapsed ElapsedOf(const Measurement& m) {
  if (!m.job) return Elapsed::Inconclusive("it was no job");
  if (!m.validity.trusted()) {
    return Elapsed::Inconclusive("it cannot be trusted: " + m.validity.ToString());
  }
  if (!m.job->succeeded()) return Elapsed::Inconclusive("its job " + m.job->ToString());
  return m.job->elapsed;
}

}  // namespace

JobReference ReferenceOf(const Measurement& m) {
  return {.elapsed = ElapsedOf(m),
          .environment = m.environment,
          .launcher = m.launcher,
          .what = m.request,
          .limits = ToString(m.requested)};
}

}  // namespace throttletest
