// CompareNeighbour: does one service get slower while another one works?
//
//   const NeighbourComparison c = CompareNeighbour(*light, Traffic(probe, Get("/")),
//                                                  *heavy, Traffic(jobs, Get("/report")));
//   std::cout << JudgeNeighbour(c).explanation;
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "throttletest/load/traffic.h"
#include "throttletest/measure/background_load.h"
#include "throttletest/measure/measure.h"
#include "throttletest/measure/rounds.h"
#include "throttletest/service/service.h"

namespace throttletest {

// The two settings of NeighbourComparison::rounds.
inline constexpr const char* kBeforeNeighbour = "before";
inline constexpr const char* kDuringNeighbour = "during";

struct NeighbourOptions {
  // Rounds of each, before and during. Units: 1..30, default 4, as CompareOptions::rounds.
  int rounds = 4;
  MeasureOptions measure = {};        // of each round of the probed service
  BackgroundOptions background = {};  // of the neighbour
  // Called after each round, an untrusted one included. `when` is one of the two settings, `round`
  // is 1-based.
  std::function<void(const std::string& when, int round, const Measurement& m)> on_round = {};
};

// The probed service with its neighbour at rest and at work, in turns.
struct NeighbourComparison {
  Rounds rounds = {};                     // of kBeforeNeighbour and kDuringNeighbour
  std::vector<BackgroundUse> loads = {};  // what the neighbour did, one a round
};

// Measures `probed` before and during a load on `neighbour`, in turns, before, during, before,
// during, so that a machine that gets slower meanwhile slows both alike. Each round is a full
// MeasureService(), warm-up included; the load on the neighbour begins before that warm-up and is
// ended, with all its requests answered, before the next round. A round that stays untrusted after
// its repeats ends it, and so does a neighbour that ends, is OOM-killed or answers nothing: the
// result is inconclusive and says which round and why.
// Errors: kInvalidArgument before anything is measured for a bad option, and for a service that is
// its own neighbour; and those of MeasureService() and BackgroundLoad.
NeighbourComparison CompareNeighbour(Service& probed, const Traffic& probe, Service& neighbour,
                                     const Traffic& load, const NeighbourOptions& options = {});

// Is the probed service as fast during as before? Met: within the tolerance. Missed: worse.
// Inconclusive: neither is shown, or a round cannot be trusted. Judged as JudgeNoSlower(), by P90
// when the bound does not say; the explanation adds what the neighbour used. Errors: none.
BudgetResult JudgeNeighbour(const NeighbourComparison& comparison,
                            const NoSlowerBound& bound = {.figure = RunFigure::kP90});

}  // namespace throttletest
