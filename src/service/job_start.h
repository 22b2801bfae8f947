// StartJob: starts a command that runs to its end, so that nothing of it is missed.
#pragma once

#include <memory>
#include <stop_token>

#include "service/instance.h"
#include "throttletest/service/job_spec.h"
#include "throttletest/service/service.h"

namespace throttletest::internal {

// A job under way, or one that has ended already.
struct StartedJob {
  std::unique_ptr<Service> service;
  JobBegin begin;
};

// As StartService(), without a port and without readiness; the limits are checked before the
// program's first instruction. The caller holds the host-wide lock. Errors: as there, but never
// kNotReady.
StartedJob StartJob(const JobSpec& spec, const std::stop_token& stop);

// Refuses what cannot be, before anything starts; returns the launcher that it will be. Errors: as
// StartJob().
LauncherKind CheckJob(const JobSpec& spec);

}  // namespace throttletest::internal
