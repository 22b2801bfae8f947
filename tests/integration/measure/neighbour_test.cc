// A service that is measured while another one works.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <memory>
#include <string>

#include "measure/background_loads.h"
#include "measure_fixture.h"
#include "throttletest/measure/neighbour.h"

namespace throttletest::test {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const Traffic kProbe(Batches(1).Every(50ms).For(600ms).WarmUp(0s), Get("/burn?ms=1"));
const Traffic kJobs(Batches(2).Every(100ms).For(300ms), Get("/burn?ms=10"));

auto BackgroundFault(const std::string& text) {
  return AllOf(Field(&ValidityFault::gate, ValidityGate::kBackgroundLoad),
               Field(&ValidityFault::text, HasSubstr(text)));
}

class NeighbourTest : public MeasureServiceTest {};

TEST_F(NeighbourTest, ABackgroundLoadRepeatsItsPlanAtItsPaceUntilItIsStopped) {
  const auto heavy = Start({.cpus = 0.5});
  const auto light = Start({});
  const auto began = std::chrono::steady_clock::now();
  // Done long before its length is over.
  BackgroundLoad load(*heavy, Traffic(Batches(4).Every(250ms).For(250ms), Get("/burn?ms=5")));
  const Measurement m = MeasureService(*light, kProbe, Patient());
  const BackgroundUse use = load.Stop();
  const std::chrono::duration<double> lasted = std::chrono::steady_clock::now() - began;
  EXPECT_TRUE(m.validity.trusted()) << m.validity.ToString();
  EXPECT_THAT(m.notes, Contains(HasSubstr("beside a background load on \"" BURN_SERVER "\": 4 ")));
  EXPECT_TRUE(use.trouble.empty()) << use.trouble;
  EXPECT_GT(use.sent, 4) << "more than the plan once";
  EXPECT_LE(static_cast<double>(use.sent), 16 * lasted.count() + 4) << "but no faster";
  EXPECT_EQ(use.ok, use.sent) << "what was under way was waited for";
  EXPECT_GT(use.cgroup.usage.value(), 5ms * use.ok / 2);
  EXPECT_EQ(load.Stop().sent, use.sent) << "stopping twice is once";
  EXPECT_THAT(internal::LookAtBackgroundLoads(), IsEmpty());
}

TEST_F(NeighbourTest, ALoadThatIsStoppedMeanwhileMakesTheRunInconclusive) {
  const auto heavy = Start({});
  const auto light = Start({});
  BackgroundLoad load(*heavy, kJobs);
  const Measurement m = MeasureService(*light, kProbe, Meanwhile(Patient(), [&] { load.Stop(); }));
  EXPECT_THAT(m.validity.faults,
              ElementsAre(BackgroundFault("was stopped before the end of the window")));
}

TEST_F(NeighbourTest, ANeighbourThatDiesMeanwhileIsInconclusive) {
  const auto heavy = Start({});
  const auto light = Start({});
  NeighbourOptions options;
  options.measure = Patient();
  int rounds = 0;
  options.on_round = [&](const std::string&, int, const Measurement&) { ++rounds; };
  options.measure.progress = [&](const MeasureProgress&) {
    if (!internal::LookAtBackgroundLoads().empty()) ::kill(heavy->pid(), SIGKILL);
  };
  const NeighbourComparison c = CompareNeighbour(*light, kProbe, *heavy, kJobs, options);
  EXPECT_EQ(rounds, 2) << "it ends with the first round that cannot be trusted";
  EXPECT_THAT(c.rounds.inconclusive,
              AllOf(HasSubstr("round 1 of \"during\""), HasSubstr("killed by SIGKILL")));
  EXPECT_EQ(JudgeNeighbour(c).verdict, Verdict::kInconclusive);
  EXPECT_TRUE(light->alive());
  try {
    BackgroundLoad again(*heavy, kJobs);
    ADD_FAILURE() << "a service that has ended cannot be loaded";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::kNotReady);
    EXPECT_THAT(e.what(), HasSubstr("cannot be loaded in the background"));
  }
}

// Long before its first repetition is over.
TEST_F(NeighbourTest, ALoadThatIsRefusedIsToldToTheMeasurementBesideIt) {
  const auto heavy = Start({});
  const auto light = Start({});
  const BackgroundLoad load(*heavy, Traffic(Batches(2).Every(50ms).For(1min), Get("/brun?ms=10")));
  const Measurement m = MeasureService(*light, kProbe, Patient());
  EXPECT_THAT(m.validity.ToString(), AllOf(HasSubstr("cannot be relied on: none of its"),
                                           HasSubstr("requests was answered as it should be")));
}

TEST_F(NeighbourTest, ANeighbourThatAnswersNothingIsInconclusive) {
  const auto heavy = Start({});
  const auto light = Start({});
  const Traffic typo(Batches(2).Every(100ms).For(300ms), Get("/brun?ms=10"));
  const NeighbourComparison c =
      CompareNeighbour(*light, kProbe, *heavy, typo, {.rounds = 1, .measure = Patient()});
  EXPECT_THAT(c.rounds.inconclusive, HasSubstr("requests was answered as it should be"));
}

}  // namespace
}  // namespace throttletest::test
