// gMock matchers on Rounds, the result of ThrottleTestBase::Compare().
//
//   const Rounds rounds = Compare({{"1 CPU", {.cpus = 1}}, {"2 CPUs", {.cpus = 2}}},
//                                 Batches(8).Every(1s).For(15s).WarmUp(2s), Get("/burn?ms=20"));
//   EXPECT_THAT(rounds, NoSlower("1 CPU", "2 CPUs"));
//
// As with the matchers on a Measurement, what is inconclusive matches nothing AND reports a failure
// of its own, so that Not(...) cannot turn it green.
//
// Deliberately absent: "is faster". It is NoSlower() with the names the other way round that fails.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <iosfwd>
#include <string>

#include "throttletest/measure/rounds.h"

namespace throttletest {

using RoundsMatcher = testing::Matcher<const Rounds&>;

// Matches when the rounds of `name` are shown to be no slower than those of `than`, by P99 and with
// 10 % of tolerance unless `bound` says otherwise; see JudgeNoSlower().
RoundsMatcher NoSlower(const std::string& name, const std::string& than,
                       const NoSlowerBound& bound = {});

// For GoogleTest's messages: the range of each figure, one line a setting.
void PrintTo(const Rounds& rounds, std::ostream* os);

}  // namespace throttletest
