// Fixtures that run a service in a container with limits and measure it.
//
//   class CpuLimit : public ThrottleTest {
//    protected:
//     ServiceSpec Service() override { return {.command = {...}, .limits = {.cpus = 2.0}}; }
//   };
//   TEST_F(CpuLimit, BurstFitsQuota) {
//     EXPECT_THAT(Measure(Batches(8).Every(1s).For(20s), Get("/burn?ms=20")),
//     ThrottleRatioBelow(0.05));
//   }
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "throttletest/base/source_location.h"
#include "throttletest/measure/compare.h"
#include "throttletest/measure/job.h"
#include "throttletest/measure/measure.h"
#include "throttletest/measure/rounds.h"
#include "throttletest/measure/service_time.h"
#include "throttletest/service/attach.h"
#include "throttletest/service/service.h"

namespace throttletest {

// What the fixtures have in common. Derive from it directly to start services by hand with Start(),
// or to measure running ones with Attach().
class ThrottleTestBase : public testing::Test {
 protected:
  // Measures the fixture's service and returns a trusted result.
  //
  // A run that stays inconclusive after options.retries repeats ends the test body with a failure
  // "INCONCLUSIVE: ..." at the caller's line (or skips the test when
  // --throttletest_skip_inconclusive is given); "could not measure" ends it with a failure there,
  // too. The figures become properties in GoogleTest's XML, those of the n-th call of a test (n >
  // 1) with the prefix "n.".
  Measurement Measure(const LoadPlan& plan, const Request& request,
                      const MeasureOptions& options = {},
                      SourceLocation where = SourceLocation::current());
  // Ends as soon as every one of `budgets` is decided; the matchers of the same budgets then take
  // that decision over.
  //
  //   const auto fits = Budget::ThrottleRatio(Comparison::kBelow, 0.05);
  //   const Measurement m = Measure(plan.UntilDecided(), Get("/burn?ms=20"), {fits});
  //   EXPECT_THAT(m, MeetsBudget(fits));
  Measurement Measure(const PlanUntilDecided& plan, const Request& request,
                      const std::vector<Budget>& budgets, const MeasureOptions& options = {},
                      SourceLocation where = SourceLocation::current());
  // The same for a mix of requests or several streams at once.
  Measurement Measure(const Traffic& traffic, const MeasureOptions& options = {},
                      SourceLocation where = SourceLocation::current());
  // The same three for a service from Start() or Attach().
  Measurement MeasureOn(throttletest::Service& service, const LoadPlan& plan,
                        const Request& request, const MeasureOptions& options = {},
                        SourceLocation where = SourceLocation::current());
  Measurement MeasureOn(throttletest::Service& service, const PlanUntilDecided& plan,
                        const Request& request, const std::vector<Budget>& budgets,
                        const MeasureOptions& options = {},
                        SourceLocation where = SourceLocation::current());
  Measurement MeasureOn(throttletest::Service& service, const Traffic& traffic,
                        const MeasureOptions& options = {},
                        SourceLocation where = SourceLocation::current());

  // Warms the fixture's service up and measures it one request at a time, see MeasureServiceTime();
  // returns a trusted result as Measure() does.
  Measurement MeasureServiceTime(const Request& request, const ServiceTimeOptions& options = {},
                                 SourceLocation where = SourceLocation::current());
  // The same for a service from Start() or Attach().
  Measurement MeasureServiceTimeOn(throttletest::Service& service, const Request& request,
                                   const ServiceTimeOptions& options = {},
                                   SourceLocation where = SourceLocation::current());

  // Runs a command to its end under limits, see throttletest::RunJob(), and returns a trusted
  // result as Measure() does; it is recorded like one. How the job ended is for matchers to judge:
  //
  //   const Measurement job = RunJob({.command = {"import", "all"}, .limits = {.cpus = 0.5}});
  //   EXPECT_THAT(job, AllOf(Succeeds(), ElapsedBelow(10s)));
  Measurement RunJob(JobSpec spec, const JobOptions& options = {},
                     SourceLocation where = SourceLocation::current());

  // Measures the fixture's service under several limits in turns, A B A B, and returns rounds that
  // are all trusted; see CompareRounds(). A round that stays inconclusive, and what cannot be
  // measured, ends the test body as in Measure(). The rounds are recorded like the calls of
  // Measure().
  Rounds Compare(const std::vector<LimitSetting>& settings, const LoadPlan& plan,
                 const Request& request, const CompareOptions& options = {},
                 SourceLocation where = SourceLocation::current());
  Rounds Compare(const std::vector<LimitSetting>& settings, const Traffic& traffic,
                 const CompareOptions& options = {},
                 SourceLocation where = SourceLocation::current());
  // The same for a service made by Start(); that of Attach() takes no limits.
  Rounds CompareOn(throttletest::Service& service, const std::vector<LimitSetting>& settings,
                   const Traffic& traffic, const CompareOptions& options = {},
                   SourceLocation where = SourceLocation::current());

  // Changes the limits of the fixture's running service; a failure ends the test body at the
  // caller's line.
  void UpdateLimits(const Limits& limits, SourceLocation where = SourceLocation::current());

  // Starts a further service. It lives until Stop() or the end of the test.
  throttletest::Service& Start(ServiceSpec spec, SourceLocation where = SourceLocation::current());

  // Attaches to a service that runs already; MeasureOn() measures it under the limits it is found
  // under. It is never changed, and is let go of, not stopped, at the end of the test.
  //
  //   Service& web = Attach({.target = RunningContainer("web"), .port = 8080});
  throttletest::Service& Attach(const AttachSpec& spec,
                                SourceLocation where = SourceLocation::current());

  // The fixture's service. Ends the test body with a failure when there is none.
  throttletest::Service& service(SourceLocation where = SourceLocation::current());

  // Stops what Start() started, lets go of what Attach() attached to, writes the JSON files and
  // shows the services' logs of a failed test. Overrides must call it.
  void TearDown() override;

 private:
  virtual throttletest::Service* current() { return nullptr; }
  std::vector<std::unique_ptr<throttletest::Service>> started_;
};

// One service per test: started in SetUp, stopped in TearDown. A service that cannot be started
// fails the test with the reason; its log is shown when a test fails. SetUp and TearDown overrides
// must call the base's.
class ThrottleTest : public ThrottleTestBase {
 protected:
  // What to run. Called once per test.
  virtual ServiceSpec Service() = 0;

  void SetUp() override;
  void TearDown() override;

 private:
  throttletest::Service* current() override { return service_.get(); }
  std::unique_ptr<throttletest::Service> service_;
};

namespace internal {
// A service of a whole suite, or the reason why there is none.
struct SharedService {
  std::unique_ptr<Service> service;
  std::string error;
};
void StartShared(SharedService& shared, const std::function<ServiceSpec()>& spec);
void StopShared(SharedService& shared);
// Fails the running test when the suite has no service.
void CheckShared(const SharedService& shared);
}  // namespace internal

// One service per test suite, for services whose start is slow. Its counters are cumulative but
// budgets judge differences, so tests stay independent unless they change the service's state or
// limits.
//
//   class Warm : public SharedServiceTest<Warm> {
//    public: static ServiceSpec Service() { ... }
//   };
//
// SetUpTestSuite never asserts (GoogleTest would report skipped tests and ctest would be green):
// the error is kept and fails every test's SetUp.
template <typename Derived>
class SharedServiceTest : public ThrottleTestBase {
 public:
  static void SetUpTestSuite() { internal::StartShared(shared_, &Derived::Service); }
  static void TearDownTestSuite() { internal::StopShared(shared_); }

 protected:
  void SetUp() override { internal::CheckShared(shared_); }

 private:
  throttletest::Service* current() override { return shared_.service.get(); }
  inline static internal::SharedService shared_;
};

}  // namespace throttletest
