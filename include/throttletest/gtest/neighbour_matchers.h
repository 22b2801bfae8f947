// gMock matchers on a NeighbourComparison, the result of ThrottleTestBase::CompareNeighbour().
//
//   const NeighbourComparison c = CompareNeighbour(service("light"), Traffic(probe, Get("/")),
//                                                  service("heavy"), Traffic(jobs,
//                                                  Get("/report")));
//   EXPECT_THAT(c, Undisturbed());
//
// As with the matchers on a Measurement, what is inconclusive matches nothing AND reports a failure
// of its own, so that Not(...) cannot turn it green.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <iosfwd>

#include "throttletest/measure/neighbour.h"

namespace throttletest {

using NeighbourMatcher = testing::Matcher<const NeighbourComparison&>;

// Matches when the probed service is shown to be no slower during its neighbour's load than before,
// by P90 and with 10 % of tolerance unless `bound` says otherwise; see JudgeNeighbour().
NeighbourMatcher Undisturbed(const NoSlowerBound& bound = {.figure = RunFigure::kP90});

// For GoogleTest's messages: the range of each figure before and during, and what the neighbour
// did.
void PrintTo(const NeighbourComparison& comparison, std::ostream* os);

}  // namespace throttletest
