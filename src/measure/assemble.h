// Assemble: joins what was read during one window into a Measurement and judges it. Pure: no clock,
// no file, no process, so every gate is tested without a service.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "measure/host_reader.h"
#include "throttletest/cgroup/sampler.h"
#include "throttletest/cgroup/snapshot.h"
#include "throttletest/load/record.h"
#include "throttletest/measure/environment.h"
#include "throttletest/measure/measurement.h"
#include "throttletest/measure/validity.h"

namespace throttletest::internal {

// Everything one window yielded.
struct WindowInputs {
  Environment environment;
  std::string launcher;
  std::string launcher_version;
  std::vector<std::string> command;
  Limits limits;
  ResolvedLimits requested;
  // What was in force when the service was attached to. Absent: it was started under `requested`.
  std::optional<Snapshot> found = {};
  std::string plan;
  std::string request;
  std::vector<std::string> request_kinds;
  int batch_size = 1;
  bool in_phase = false;  // all batches start at the same point of the service's period
  bool moved = false;     // batches were moved so that they do not
  LoadResult load;
  std::optional<EarlyVerdicts> early;
  Snapshot before;
  std::optional<Snapshot> after;  // Absent: it could not be read; `after_error` says why
  std::string after_error;
  HostSnapshot host_before;
  HostSnapshot host_after;
  Outcome<int> threads;
  Timeline timeline;
  bool alive = true;    // the main process runs at the end of the window
  std::string trouble;  // Service::Trouble() at the end of the window
  bool interrupted = false;
  ValidityBounds bounds;
  std::int64_t warm_up_failed = 0;
  std::int64_t warm_up_planned = 0;
  // Absent: a service was measured. Of a job that has ended `alive` is false, and `trouble` is
  // about the time before.
  std::optional<JobRun> job = {};
  // Of a job: its CPU time when `host_before` was read, a moment after its start. Absent: it had
  // ended.
  std::optional<std::chrono::nanoseconds> usage_before_host = {};
  std::size_t left = 0;  // of a job: processes that outlived its main process
};

// Errors: none; what cannot be trusted is in the result's validity.
Measurement Assemble(WindowInputs inputs);

// Faults that another run may not have: the load generator was late, stopped or could not send, or
// the machine was busy with something else.
bool WorthRetrying(const Validity& validity);

}  // namespace throttletest::internal
