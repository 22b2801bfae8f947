// Three services that are slow for three reasons, and advice that is taken.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>
#include <string>
#include <thread>

#include "disturb.h"
#include "measure_fixture.h"
#include "throttletest/measure/budget.h"

namespace throttletest::test {
namespace {

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

std::string Missed(const char* budget, const Measurement& m) {
  EXPECT_TRUE(m.validity.trusted()) << m.validity.ToString();
  const BudgetResult result = ParseBudget(budget).Evaluate(m);
  EXPECT_EQ(result.verdict, Verdict::kMissed) << result.explanation;
  return result.explanation;
}

// The number after "cpus >= ".
double AdvisedCpus(const std::string& text) {
  std::smatch match;
  if (!std::regex_search(text, match, std::regex("cpus >= ([0-9.]+)"))) return 0;
  return std::stod(match[1]);
}

class Diagnosis : public MeasureServiceTest {
 protected:
  // Not at whole multiples of the kernel's period, which would give all bursts the same start
  // within a period: with two CPUs one start in six lets a burst use half of two quotas and never
  // be held.
  static Measurement BurstsAt(double cpus) {
    const auto service = Start({.cpus = cpus});
    return MeasureService(*service, Batches(8).Every(730ms).For(6s).WarmUp(1s), Get("/burn?ms=20"),
                          Patient());
  }
};

TEST_F(Diagnosis, ABurstThatIsThrottledNamesALimitThatHoldsIt) {
  const Measurement m = BurstsAt(1.0);
  const std::string latency = Missed("max<60ms", m);
  EXPECT_THAT(latency,
              AllOf(ContainsRegex("One burst needs 1[0-9][0-9] ms CPU"),
                    HasSubstr("the quota gives 100 ms per 100 ms period"),
                    ContainsRegex("[1-9][0-9]* of the [0-9]+ slowest requests overlap a throttled "
                                  "window"),
                    ContainsRegex("[0-9]+ threads can use [0-9]+ CPUs at once and use up 100 ms")));
  EXPECT_THAT(latency, Not(HasSubstr("itself is slow")));
  const double advised = AdvisedCpus(Missed("throttle_ratio<0.05", m));
  ASSERT_GT(advised, 1.0);
  const BudgetResult held = ParseBudget("throttle_ratio<0.05").Evaluate(BurstsAt(advised));
  EXPECT_EQ(held.verdict, Verdict::kMet) << held.explanation;
}

TEST_F(Diagnosis, AServiceThatComputesForLongIsSlowItself) {
  const auto service = Start({.cpus = 4.0});
  const Measurement m = MeasureService(*service, Batches(1).Every(400ms).For(4s).WarmUp(0s),
                                       Get("/burn?ms=150"), Patient());
  EXPECT_THAT(Missed("p50<50ms", m),
              AllOf(ContainsRegex("Not throttled \\(0 of [0-9]+ periods\\)"),
                    ContainsRegex("A request needs 1[0-9][0-9]\\.[0-9] ms CPU on average"),
                    HasSubstr("the service itself is slow"), Not(HasSubstr("overlap"))));
}

TEST_F(Diagnosis, AServiceThatHasToWaitForCpusIsNotBlamed) {
  const auto service = Start({.cpus = 4.0});
  const BusyNeighbours neighbours(3 * std::thread::hardware_concurrency());
  // Less than the neighbours, whether the kernel weighs them one by one or as one session.
  Share(*service, "30", "307");
  const Measurement m = MeasureService(*service, Batches(1).Every(400ms).For(4s).WarmUp(0s),
                                       Get("/burn?ms=50"), Patient());
  EXPECT_THAT(Missed("p50<60ms", m),
              AllOf(ContainsRegex("Not throttled \\(0 of [0-9]+ periods\\)"),
                    ContainsRegex("The host was busy: other processes used [5-9][0-9] % of its CPU "
                                  "time"),
                    Not(HasSubstr("itself is slow")), Not(HasSubstr("overlap"))));
}

}  // namespace
}  // namespace throttletest::test
