// CompareRounds: one service under several limits in turns, A B A B, so that a machine that gets
// slower meanwhile slows all of them alike.
//
//   const Rounds rounds = CompareRounds(*service, {{"half", {.cpus = 0.5}}, {"two", {.cpus = 2}}},
//                                       Traffic(Batches(8).Every(1s).For(15s), Get("/")));
//   const BudgetResult verdict = JudgeNoSlower(rounds, "half", "two");
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "throttletest/cgroup/limits.h"
#include "throttletest/load/plan.h"
#include "throttletest/load/request.h"
#include "throttletest/load/traffic.h"
#include "throttletest/measure/measure.h"
#include "throttletest/measure/rounds.h"
#include "throttletest/service/service.h"

namespace throttletest {

// One of the limits that are compared.
struct LimitSetting {
  std::string name = {};
  Limits limits = {};
};

struct CompareOptions {
  // Rounds of each setting. Units: 1..30, default 4: the fewest with which a rank test can tell two
  // settings apart at 5 %. With 3 and 3 the smallest one-sided p is 0.05, which is not below it.
  int rounds = 4;
  // Of each round.
  MeasureOptions measure = {};
  // Called after each round, an untrusted one included. `round` is 1-based.
  std::function<void(const std::string& setting, int round, const Measurement& m)> on_round = {};
};

// Measures every setting once a round, each time with a full MeasureService(), warm-up included.
// The limits of the running service are changed before each and set back to what they were at the
// end. A round that stays untrusted after its repeats ends it: the result is inconclusive and says
// which round and why.
// Errors: kInvalidArgument before anything is measured for fewer than two settings, names that are
// empty or not distinct, limits that cannot be, or a bad option; kServiceStart when limits did not
// take; and those of MeasureService().
Rounds CompareRounds(Service& service, const std::vector<LimitSetting>& settings,
                     const Traffic& traffic, const CompareOptions& options = {});
Rounds CompareRounds(Service& service, const std::vector<LimitSetting>& settings,
                     const LoadPlan& plan, const Request& request,
                     const CompareOptions& options = {});

}  // namespace throttletest
