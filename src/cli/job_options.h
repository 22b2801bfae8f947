// The options of `throttletest job`, as typed and as understood.
#pragma once

#include <CLI/App.hpp>
#include <string>
#include <vector>

#include "cli/run_options.h"
#include "throttletest/measure/budget.h"
#include "throttletest/measure/job.h"
#include "throttletest/service/host_lock.h"
#include "throttletest/service/job_spec.h"

namespace throttletest::cli {

// As typed.
struct JobText {
  RunText run;  // those that a job shares with a service; the others keep their defaults
  std::string timeout = "30m";
  bool compare_unlimited = false;
};

// As understood.
struct JobSettings {
  JobSpec spec;
  JobOptions options;
  std::vector<Budget> budgets;  // that it succeeds is among them
  HostLockOptions lock;
};

// Declares the options on `app`, bound to `text`.
void DeclareJobOptions(CLI::App& app, JobText& text);

// Understands them all, before anything starts. Errors: kInvalidArgument naming the option.
JobSettings Understand(const JobText& text);

}  // namespace throttletest::cli
