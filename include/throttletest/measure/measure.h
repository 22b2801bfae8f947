// MeasureService: warm up, take snapshot A, drive the load, wait for the drain and one period, take
// snapshot B, and judge whether the result may be trusted.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "throttletest/load/plan.h"
#include "throttletest/load/request.h"
#include "throttletest/load/traffic.h"
#include "throttletest/measure/budget.h"
#include "throttletest/measure/measurement.h"
#include "throttletest/measure/validity.h"
#include "throttletest/service/service.h"

namespace throttletest {

// Where a measurement is, for progress lines.
struct MeasureProgress {
  const char* phase = "";  // "warm-up", "load", "drain"
  std::int64_t done = 0;
  std::int64_t planned = 0;
};

// Ends the load as soon as every one of these budgets is decided, but not within the first second;
// the plan's end is the latest. Needs a steady traffic, since what was seen stands for the rest.
struct UntilDecided {
  std::vector<Budget> budgets = {};  // at least one
  // How often "met" is said of a budget that is not, and "missed" of one that is: at most this, for
  // each budget. Units: above 0, below 0.5.
  double error_rate = 0.05;
};

struct MeasureOptions {
  ValidityBounds bounds = {};
  // How often a run is repeated, warm-up included, when the load generator or the machine made it
  // inconclusive (start lag, not sent, steal, host busy, own throttled) and the service still runs.
  // What the service or its limits did is never repeated away. Units: >= 0, default 2.
  int retries = 2;
  // Between two timeline samples. Units: > 0, default 10 ms.
  std::chrono::nanoseconds sample_interval = std::chrono::milliseconds(10);
  // The service speaks HTTPS on its port. Absent: plain HTTP.
  std::optional<TlsOptions> tls = {};
  // The service listens on this Unix socket instead of its port; see Endpoint::unix_path.
  std::string unix_path = {};
  // Absent: the whole plan is run.
  std::optional<UntilDecided> until_decided = {};
  std::function<void(const MeasureProgress&)> progress = {};  // called about ten times a second
  std::stop_token stop = {};
};

// Throws kInvalidArgument unless a measurement can be made with these, whatever the service: so
// that none has to be started first. Reads the files that `tls` names.
void Validate(const MeasureOptions& options);
// The same, and that they fit the traffic.
void Validate(const Traffic& traffic, const MeasureOptions& options);

// Measures a running service, when no other process on this machine starts or measures one (see
// service/host_lock.h). The result says in `validity` whether it may be trusted; a Budget on
// an untrusted one is inconclusive. Once the window is open, a service that ends and a
// stop request end the load early and give an untrusted result with what was measured so far.
// Errors: kInvalidArgument for a bad plan, request or option; kNotReady "service ended during
// warm-up: ..." and kCgroup when the service cannot be measured before the window opens;
// kInterrupted for a stop request before it opens; kUnsupported when others measure for too long;
// kLoad.
Measurement MeasureService(Service& service, const LoadPlan& plan, const Request& request,
                           const MeasureOptions& options = {});
// The same for a mix of requests or several streams at once.
Measurement MeasureService(Service& service, const Traffic& traffic,
                           const MeasureOptions& options = {});

}  // namespace throttletest
