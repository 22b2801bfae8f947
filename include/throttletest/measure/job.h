// RunJob: run a command to its end under limits and read what the limits did to it.
//
//   const Measurement job = RunJob({.command = {"sysbench", "cpu", "run"}, .limits = {.cpus =
//   0.5}}); std::cout << Budget::Elapsed(Comparison::kBelow, 10s).Evaluate(job).explanation;
#pragma once

#include <chrono>
#include <functional>
#include <stop_token>

#include "throttletest/measure/measure.h"
#include "throttletest/measure/measurement.h"
#include "throttletest/measure/validity.h"
#include "throttletest/service/job_spec.h"

namespace throttletest {

struct JobOptions {
  // That of start lag is how late the job's start may have been seen (JobRun::at_most_before).
  ValidityBounds bounds = {};
  // How often the whole job is run again when the machine made it inconclusive (steal, host busy,
  // own throttled). Units: >= 0, default 2; 0 for a job that must not be run twice.
  int retries = 2;
  // A job that runs longer is stopped, see JobRun::timed_out. Units: > 0, default 30 min.
  std::chrono::nanoseconds timeout = std::chrono::minutes(30);
  // Between two timeline samples. Units: > 0, default 10 ms.
  std::chrono::nanoseconds sample_interval = std::chrono::milliseconds(10);
  // Called about ten times a second, with phase "job" and milliseconds: those so far of `timeout`.
  std::function<void(const MeasureProgress&)> progress = {};
  std::stop_token stop = {};
};

// Throws kInvalidArgument unless a job can be run with these.
void Validate(const JobOptions& options);

// Runs a job, when no other process on this machine starts or measures one (see
// service/host_lock.h), and returns a Measurement that has `job` and no load: its window is from
// the moment the program runs to the moment its main process has ended. Processes of the job that
// still run then are ended, and a note says so.
//
// The counters before are read before the program's first instruction; those after, when the kernel
// has said that the last thread of the main process has ended, which for containers is before the
// engine takes the cgroup away. Where it was gone all the same, the figures are inconclusive. The
// memory peak is the cgroup's: with container engines the runtime's own few MiB while it set the
// container up are the least it can be.
//
// How the job ended is in `job`, and is no fault: a job that fails, is killed or takes longer than
// the timeout was measured like any other, and budgets then say so.
// A stop request ends it and gives an untrusted result. Nothing is left running in any case.
// Errors: kInvalidArgument (before anything is started); as StartService() for what cannot be
// started; kInterrupted for a stop request before it runs.
Measurement RunJob(const JobSpec& spec, const JobOptions& options = {});

}  // namespace throttletest
