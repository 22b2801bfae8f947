// ServiceTime: how long the service takes for one request that nothing is waiting before, under the
// limits that were in force. Queue depths and time-outs are derived from it, and it is a function
// of the limit: of another limit it is wrong however exactly it was measured.
//
//   const Measurement m = MeasureServiceTime(*service, Get("/report"));
//   const Outcome<ServiceTime> s = ServiceTimeOf(m);
//   if (s.has_value()) Print(s.value().worst());
//
// What a client sees of a request is done - sent (RequestRecord::service_time()). That is the
// service's own time only while no other request waits or is worked on: of requests sent together,
// the last one's contains the time of all others. So it is measured one request at a time; or with
// batches to a service that answers one by one (WorkersOf()), where the time between two answers is
// it.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "throttletest/base/outcome.h"
#include "throttletest/load/latency.h"
#include "throttletest/load/request.h"
#include "throttletest/measure/measure.h"
#include "throttletest/measure/measurement.h"
#include "throttletest/service/service.h"

namespace throttletest {

struct ServiceTime {
  enum class Method {
    kOneAtATime,  // no request was sent before the one before was answered
    kStaircase,   // batches that were answered one by one: time between two answers
  };
  // Fewer requests are inconclusive: it happens once in 2^5 = 32 times that five in a row are all
  // below the median, and then their worst says nothing of the worst.
  static constexpr std::int64_t kFewestRequests = 5;

  Method method = Method::kOneAtATime;
  LatencySamples samples = {};  // a failed request ranks as infinitely slow
  ResolvedLimits limits = {};   // it was measured under: those asked for, or found in force
  double cpus = 0;              // effective limit, in CPUs

  Latency worst() const { return samples.max(); }
  Latency At(Percentile p) const { return samples.At(p); }
  // "worst of 20 requests sent one at a time", "worst of 25 steps of batches answered one by one".
  std::string Sample() const;
  // "CPU 50 ms per 100 ms (0.5 CPUs)", or "no limit (2 CPUs)".
  std::string Under() const;
};

// Inconclusive: the run is not trusted; requests overlapped and were not answered one by one; fewer
// than kFewestRequests. Errors: none.
Outcome<ServiceTime> ServiceTimeOf(const Measurement& m);

struct ServiceTimeOptions {
  // Units: >= ServiceTime::kFewestRequests, default 20.
  int requests = 20;
  // One request after the other, each sent when the one before was answered; at least two. Their
  // figures count nowhere. Units: >= 0, default 3 s.
  std::chrono::nanoseconds warm_up = std::chrono::seconds(3);
  // Between two requests. Units: > 0. Absent: half as long again as the slowest of the warm-up
  // after the first, at points spread all over the quota's period; doubled, and measured again,
  // when requests overlap all the same.
  std::optional<std::chrono::nanoseconds> every = {};
  MeasureOptions measure = {};
};

// Warms the service up and measures it one request at a time. The result is like that of any other
// measurement; budgets such as Budget::QueueDepth() take the service time from it.
//
// A quota that can be saved up (burst) is full after each pause: the first of several in a row
// would be as fast, the others slower. The result has a note then. Errors: kInvalidArgument; kLoad
// when no request of the warm-up is answered with success; as MeasureService().
Measurement MeasureServiceTime(Service& service, const Request& request,
                               const ServiceTimeOptions& options = {});
// Throws kInvalidArgument unless it could be measured so, whatever the service.
void Validate(const ServiceTimeOptions& options);

}  // namespace throttletest
