// What becomes of a measurement whose service or limits do not stay as they were.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <cstring>
#include <fstream>
#include <string>

#include "measure_fixture.h"
#include "throttletest/base/error.h"
#include "throttletest/measure/budget.h"

namespace throttletest::test {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;

const LoadPlan kPlan = Batches(4).Every(200ms).For(30s).WarmUp(400ms);

// Does `act` once in `phase`, after some requests.
MeasureOptions During(MeasureOptions options, const char* phase, std::function<void()> act) {
  options.progress = [phase, act = std::move(act), done = false](const MeasureProgress& p) mutable {
    if (done || std::strcmp(p.phase, phase) != 0 || p.done < 4) return;
    done = true;
    act();
  };
  return options;
}

TEST_F(MeasureServiceTest, AServiceThatIsKilledEndsTheRunInconclusive) {
  const auto service = Start({.cpus = 0.5});
  const auto start = std::chrono::steady_clock::now();
  const MeasureOptions options =
      During(Patient(), "load", [&] { ::kill(service->pid(), SIGKILL); });
  const Measurement m = MeasureService(*service, kPlan, Get("/burn?ms=5"), options);
  EXPECT_LT(std::chrono::steady_clock::now() - start, 20s) << "the plan was driven to its end";
  EXPECT_THAT(m.validity.faults,
              ElementsAre(AllOf(Field(&ValidityFault::gate, ValidityGate::kServiceGone),
                                Field(&ValidityFault::text, HasSubstr("killed by SIGKILL")))));
  EXPECT_EQ(m.attempt, 1) << "a dead service was measured again";
  for (const char* budget : {"throttle_ratio<=1", "p50<30s", "failed_requests<=100000"}) {
    EXPECT_EQ(ParseBudget(budget).Evaluate(m).verdict, Verdict::kInconclusive) << budget;
  }
}

TEST_F(MeasureServiceTest, AServiceThatEndsDuringTheWarmUpIsAnError) {
  const auto service = Start({});
  const MeasureOptions options =
      During(Patient(), "warm-up", [&] { ::kill(service->pid(), SIGKILL); });
  try {
    MeasureService(*service, kPlan.WarmUp(30s), Get("/burn?ms=5"), options);
    FAIL() << "measured a dead service";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::kNotReady) << e.what();
    EXPECT_THAT(e.what(), HasSubstr("service ended during warm-up: killed by SIGKILL"));
  }
}

TEST_F(MeasureServiceTest, C086ALimitThatIsChangedMeanwhileMakesTheRunInconclusive) {
  const auto service = Start({.cpus = 0.5});
  const ControllerLocation& cpu = service->cgroup().location().cpu.value();
  const bool v2 = cpu.version == CgroupVersion::kV2;
  const MeasureOptions options = During(Patient(), "load", [&] {
    std::ofstream(cpu.directory() + (v2 ? "/cpu.max" : "/cpu.cfs_quota_us")) << "80000";
  });
  const Measurement m = MeasureService(*service, kPlan.For(2s), Get("/burn?ms=5"), options);
  EXPECT_THAT(m.validity.faults,
              Contains(AllOf(Field(&ValidityFault::gate, ValidityGate::kLimitChanged),
                             Field(&ValidityFault::text, HasSubstr("80 ms")))));
}

TEST_F(MeasureServiceTest, AStopRequestDuringTheLoadGivesAnUntrustedResult) {
  const auto service = Start({});
  std::stop_source stop;
  MeasureOptions options = During(Patient(), "load", [&] { stop.request_stop(); });
  options.stop = stop.get_token();
  const Measurement m = MeasureService(*service, kPlan, Get("/burn?ms=5"), options);
  EXPECT_THAT(m.validity.faults,
              ElementsAre(Field(&ValidityFault::gate, ValidityGate::kInterrupted)));
  EXPECT_GT(m.load.not_sent, 0);
}

TEST_F(MeasureServiceTest, AStopRequestDuringTheWarmUpIsAnError) {
  const auto service = Start({});
  std::stop_source stop;
  MeasureOptions options = During(Patient(), "warm-up", [&] { stop.request_stop(); });
  options.stop = stop.get_token();
  try {
    MeasureService(*service, kPlan.WarmUp(30s), Get("/burn?ms=5"), options);
    FAIL() << "measured after a stop request";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::kInterrupted) << e.what();
  }
}

TEST_F(MeasureServiceTest, ALateGeneratorIsTriedAgainAndEachAttemptIsTold) {
  const auto service = Start({});
  MeasureOptions options;
  options.bounds.start_lag_p99 = 0ns;
  options.retries = 1;
  const Measurement m =
      MeasureService(*service, kPlan.For(400ms).WarmUp(0s), Get("/burn?ms=1"), options);
  EXPECT_EQ(m.attempt, 2);
  EXPECT_THAT(m.validity.faults, ElementsAre(Field(&ValidityFault::gate, ValidityGate::kStartLag)));
  EXPECT_THAT(m.notes, Contains(HasSubstr("attempt 1 was inconclusive: start lag P99")));
}

TEST_F(MeasureServiceTest, RefusesBadOptionsBeforeAnyLoad) {
  const auto service = Start({});
  const auto message = [&](const MeasureOptions& options) -> std::string {
    try {
      MeasureService(*service, kPlan, Get("/burn?ms=1"), options);
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), ErrorCode::kInvalidArgument);
      return e.what();
    }
    return "no error";
  };
  MeasureOptions retries;
  retries.retries = -1;
  EXPECT_THAT(message(retries), HasSubstr("retries -1"));
  MeasureOptions interval;
  interval.sample_interval = 0ns;
  EXPECT_THAT(message(interval), HasSubstr("interval"));
}

}  // namespace
}  // namespace throttletest::test
