// Traffic: what is sent and when - one request after one plan, a mix of requests, or several
// streams at once on one clock.
//
//   Traffic(Batches(8).Every(1s), Get("/burn?ms=20"))
//   Traffic(ConstantRate(100_rps), {{Get("/read"), 9}, {Post("/write", "x"), 1}})
//       .And(Batches(32).Every(5s), Get("/report"))
#pragma once

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "throttletest/load/plan.h"
#include "throttletest/load/request.h"
#include "throttletest/load/schedule.h"

namespace throttletest {

// A request and its share in a mix. Units: weight 1..1000.
struct WeightedRequest {
  Request request;
  int weight = 1;
};

// A value. The mix is spread evenly and without chance: of weights 9 and 1, every tenth is the
// other one, so that a run has the same requests at the same instants every time.
class Traffic {
 public:
  // Errors (all of these): kInvalidArgument for a mix that is empty or has a weight out of range, a
  // bad request, or more than 1000 requests.
  Traffic(const LoadPlan& plan, const Request& request);
  Traffic(const LoadPlan& plan, const std::vector<WeightedRequest>& mix);
  // This traffic with a further stream. Each stream keeps its own duration and warm-up.
  Traffic And(const LoadPlan& plan, const Request& request) const;
  Traffic And(const LoadPlan& plan, const std::vector<WeightedRequest>& mix) const;

  // All streams together. Errors: as LoadPlan::measured().
  Schedule measured() const;
  Schedule warm_up() const;
  bool has_warm_up() const;
  // Of the longest stream, without the warm-up.
  std::chrono::nanoseconds length() const;
  // True when it is one stream of a steady plan.
  bool is_steady() const;
  // Of all streams together; at most 60000.
  int max_in_flight() const;
  // All requests, in the order given: RequestRecord::kind is an index into it.
  const std::vector<Request>& requests() const { return requests_; }

  // "8 requests every 1 s for 20 s after 3 s of warm-up", streams joined by " and ".
  std::string PlanText() const;
  // "GET /burn?ms=20"; of a mix "9 of GET /read, 1 of POST /write"; streams joined by " and ".
  std::string RequestText() const;

 private:
  struct Stream {
    LoadPlan plan;
    std::size_t first_request;
    std::vector<int> weights;
  };

  void Add(const LoadPlan& plan, const std::vector<WeightedRequest>& mix);
  Schedule WithKinds(const Schedule& schedule, const Stream& stream) const;

  std::vector<Stream> streams_;
  std::vector<Request> requests_;
};

}  // namespace throttletest
