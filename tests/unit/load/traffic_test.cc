#include "throttletest/load/traffic.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "throttletest/base/error.h"

namespace throttletest {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

std::vector<int> Kinds(const Schedule& schedule) {
  std::vector<int> kinds;
  for (std::int64_t i = 0; i < schedule.request_count(); ++i) kinds.push_back(schedule.KindOf(i));
  return kinds;
}

TEST(Traffic, OfOneRequestIsThePlan) {
  const LoadPlan plan = Batches(8).Every(1s).For(20s).WarmUp(3s).MaxInFlight(16);
  const Traffic traffic(plan, Get("/a"));
  EXPECT_EQ(traffic.measured().batches(), plan.measured().batches());
  EXPECT_EQ(traffic.warm_up().batches(), plan.warm_up().batches());
  EXPECT_EQ(traffic.max_in_flight(), 16);
  EXPECT_EQ(traffic.PlanText(), plan.ToString());
  EXPECT_EQ(traffic.RequestText(), "GET /a");
}

TEST(Traffic, DealsOutAMixEvenlyByWeight) {
  const Traffic traffic(Batches(4).Every(1s).For(2s).WarmUp(1s),
                        {{Get("/a"), 3}, {Post("/b", "x"), 1}});
  EXPECT_THAT(Kinds(traffic.measured()), ElementsAre(0, 0, 1, 0, 0, 0, 1, 0));
  EXPECT_THAT(Kinds(traffic.warm_up()), ElementsAre(0, 0, 1, 0));
  EXPECT_EQ(traffic.RequestText(), "3 of GET /a, 1 of POST /b");
}

TEST(Traffic, GivesEachPartItsShareWithinOneAtAnyTime) {
  const std::vector<int> weights = {5, 3, 2};
  const Traffic traffic(ConstantRate(1000_rps).For(1s),
                        {{Get("/a"), 5}, {Get("/b"), 3}, {Get("/c"), 2}});
  std::map<int, int> dealt;
  int n = 0;
  for (const int kind : Kinds(traffic.measured())) {
    ++dealt[kind];
    ++n;
    for (std::size_t i = 0; i < weights.size(); ++i) {
      EXPECT_LE(std::abs(dealt[static_cast<int>(i)] - n * weights[i] / 10.0), 1.0) << n;
    }
  }
  EXPECT_EQ(dealt[1], 300);
}

TEST(Traffic, RunsStreamsAtOnce) {
  const Traffic traffic = Traffic(ConstantRate(2_rps).For(2s).WarmUp(0s), Get("/a"))
                              .And(Batches(2).Every(1s).For(1s).WarmUp(1s), Get("/b"));
  EXPECT_THAT(Kinds(traffic.measured()), ElementsAre(0, 1, 1, 0, 0, 0));
  EXPECT_EQ(traffic.measured().StartOf(1), 0s);
  EXPECT_THAT(Kinds(traffic.warm_up()), ElementsAre(1, 1));
  EXPECT_TRUE(traffic.has_warm_up());
  EXPECT_EQ(traffic.max_in_flight(), 2 * 4096);
  EXPECT_EQ(traffic.requests().size(), 2u);
  EXPECT_EQ(traffic.PlanText(),
            "2 requests per second for 2 s and 2 requests every 1 s for 1 s after 1 s of warm-up");
  EXPECT_EQ(traffic.RequestText(), "GET /a and GET /b");
}

TEST(Traffic, IsAsLongAsItsLongestStream) {
  const Traffic traffic(Batches(1).For(2s), Get("/"));
  EXPECT_EQ(traffic.length(), 2s);
  EXPECT_EQ(traffic.And(Batches(1).For(3s), Get("/")).length(), 3s);
  EXPECT_EQ(traffic.And(Batches(1).For(1s), Get("/")).length(), 2s);
}

TEST(Traffic, RefusesWhatCannotBeMixed) {
  const LoadPlan plan = Batches(1);
  EXPECT_THAT([&] { Traffic(plan, std::vector<WeightedRequest>{}); },
              ThrowsMessage<Error>(HasSubstr("mix of no request")));
  EXPECT_THAT(
      [&] {
        Traffic(plan, {{Get("/a"), 0}});
      },
      ThrowsMessage<Error>(HasSubstr("weight 0 of GET /a is out of range 1..1000")));
  EXPECT_THAT([&] { Traffic(plan, {{Get("/a"), 1001}}); }, ThrowsMessage<Error>(HasSubstr("1001")));
  Request bad;
  bad.target = "no slash";
  EXPECT_THROW(Traffic(plan, bad), Error);
  EXPECT_THAT(
      [&] {
        Traffic(plan, std::vector<WeightedRequest>(1001, {Get("/a"), 1}));
      },
      ThrowsMessage<Error>(HasSubstr("more than 1000")));
}

}  // namespace
}  // namespace throttletest
