// Baselines in tests: fails when a measurement is worse than the runs in a reviewed JSON file.
//
//   EXPECT_THAT(Measure(plan, request), NoWorseThan(Baseline("burst")));
//
// The file is throttletest_baselines.json beside the test's source, unless
// --throttletest_baseline_file=FILE or THROTTLETEST_BASELINE_FILE names another. With
// --throttletest_update_baselines the matcher writes the run into it instead of judging it; at
// least three runs are needed, e.g. --gtest_repeat=5. See docs/baselines.md.
#pragma once

#include <string>

#include "throttletest/base/source_location.h"
#include "throttletest/gtest/matchers.h"

namespace throttletest {

// A named baseline. A value.
class Baseline {
 public:
  explicit Baseline(std::string name, const SourceLocation& where = SourceLocation::current());

  // How far above the mean of the stored runs a figure may be in any case, as a share. Units: >= 0,
  // default 0.05, that is 5 %.
  Baseline WithTolerance(double share) const;

  const std::string& name() const { return name_; }
  // The JSON file, by the flags of now.
  std::string file() const;
  double tolerance() const { return tolerance_; }

 private:
  std::string name_;
  std::string beside_;  // the source file
  double tolerance_;
};

// Matches when no figure is worse than what the stored runs let expect; see JudgeBaseline().
// Another environment or load, or too few runs, is inconclusive.
MeasurementMatcher NoWorseThan(const Baseline& baseline);

}  // namespace throttletest
