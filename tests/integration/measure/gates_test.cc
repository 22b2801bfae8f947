// Each fault of the machine, the generator and the service, made to happen during a measurement.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstring>
#include <fstream>
#include <string>
#include <thread>

#include "disturb.h"
#include "measure/host_reader.h"
#include "measure_fixture.h"
#include "throttletest/measure/budget.h"

namespace throttletest::test {
namespace {

using ::testing::_;
using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::IsEmpty;
using ::testing::Pair;

const LoadPlan kTwoSeconds = Batches(4).Every(100ms).For(2s).WarmUp(0s);

auto Fault(ValidityGate gate, const std::string& regex) {
  return AllOf(Field(&ValidityFault::gate, gate),
               Field(&ValidityFault::text, ContainsRegex(regex)));
}

// No budget may be judged on such a run.
void ExpectInconclusive(const Measurement& m) {
  for (const char* budget : {"p50<30s", "failed_requests<=100000", "throttled_periods<=100000"}) {
    EXPECT_EQ(ParseBudget(budget).Evaluate(m).verdict, Verdict::kInconclusive) << budget;
  }
}

void WriteTo(const std::string& file, const std::string& value) {
  std::ofstream stream(file);
  stream << value;
  EXPECT_TRUE(stream.flush()) << file;
}

class Gates : public MeasureServiceTest {};

TEST_F(Gates, AStoppedGeneratorIsLate) {
  const auto service = Start({});
  MeasureOptions options = Patient();
  options.bounds.start_lag_p99 = std::nullopt;
  options.retries = 0;
  const StopsThisProcess stop(1s, 300ms);
  const Measurement m = MeasureService(*service, kTwoSeconds, Get("/burn?ms=1"), options);
  EXPECT_THAT(m.validity.faults,
              ElementsAre(Fault(ValidityGate::kStartLag,
                                "^start lag P99 [1-9][0-9][0-9]+\\.[0-9] ms is above 25 ms")));
  ExpectInconclusive(m);
}

TEST_F(Gates, AGeneratorThatItsOwnCgroupStopsIsNotTrusted) {
  const auto service = Start({});
  MeasureOptions options = Patient();
  options.retries = 1;
  const OwnQuota quota(20ms);
  const Measurement m = MeasureService(*service, kTwoSeconds.For(1s), Get("/burn?ms=1"), options);
  EXPECT_THAT(m.validity.faults,
              ElementsAre(Fault(ValidityGate::kOwnThrottled,
                                "was itself throttled in [0-9]+ periods by " + quota.path() +
                                    " \\(20 ms per 100 ms \\(0\\.2 CPUs\\)\\), above 0")));
  EXPECT_GE(m.host.own_throttled_periods.value(), 5);
  EXPECT_EQ(m.attempt, 2) << "another run may find the machine at rest";
  ExpectInconclusive(m);
}

TEST_F(Gates, BusyNeighboursAreNotTrusted) {
  const auto service = Start({.cpus = 1.0});
  MeasureOptions options = Patient();
  options.bounds.max_others_cpu = ValidityBounds{}.max_others_cpu;
  options.retries = 0;
  const BusyNeighbours neighbours(std::thread::hardware_concurrency());
  const Measurement m = MeasureService(*service, kTwoSeconds, Get("/burn?ms=1"), options);
  EXPECT_THAT(m.validity.faults,
              ElementsAre(Fault(ValidityGate::kHostBusy,
                                "^other processes used [0-9.]+ % of the machine's CPU time.*, "
                                "above 25 %: run measurements alone")));
  EXPECT_GT(m.host.others_cpu.value(), 0.6);
  ExpectInconclusive(m);
}

TEST_F(Gates, OtherServicesOfTheTestAreCountedApartFromNeighbours) {
  const auto other = Start({});
  const auto service = Start({});
  const internal::HostReader reader;
  const internal::HostSnapshot before = reader.Read(service.get());
  const Measurement m =
      MeasureService(*other, kTwoSeconds.For(500ms), Get("/burn?ms=10"), Patient());
  const internal::HostSnapshot after = reader.Read(service.get());
  EXPECT_THAT(after.services, ElementsAre(Pair(other.get(), _)));
  EXPECT_GE(after.services.at(other.get()) - before.services.at(other.get()),
            m.cgroup.usage.value());
  other->Stop();
  EXPECT_THAT(reader.Read(service.get()).services, IsEmpty());
}

TEST_F(Gates, AServiceThatIsOomKilledIsGone) {
  const auto service = Start({.memory = 64_MiB, .memory_swap = 64_MiB});
  const Measurement m = MeasureService(*service, kTwoSeconds, Get("/burn?ms=1&mb=200"), Patient());
  EXPECT_THAT(m.validity.faults,
              ElementsAre(Fault(ValidityGate::kServiceGone,
                                "OOM-killed \\(1 kill\\) at a memory limit of 64 MiB")));
  EXPECT_EQ(m.attempt, 1);
  ExpectInconclusive(m);
}

TEST_F(Gates, ACgroupThatIsMadeAgainUnderTheSameNameIsAnother) {
  const auto service = Start({.cpus = 0.5});
  const ControllerLocation cpu = service->cgroup().location().cpu.value();
  const std::string directory = cpu.directory();
  const std::string home = directory.substr(0, directory.rfind('/')) + "/cgroup.procs";
  const auto make_again = [&] {
    for (const pid_t pid : service->cgroup().Processes()) WriteTo(home, std::to_string(pid));
    ASSERT_EQ(::rmdir(directory.c_str()), 0) << std::strerror(errno);
    ASSERT_EQ(::mkdir(directory.c_str(), 0755), 0) << std::strerror(errno);
    const bool v2 = cpu.version == CgroupVersion::kV2;
    WriteTo(directory + (v2 ? "/cpu.max" : "/cpu.cfs_quota_us"), "50000");
    WriteTo(directory + "/cgroup.procs", std::to_string(service->pid()));
  };
  const Measurement m =
      MeasureService(*service, kTwoSeconds, Get("/burn?ms=1"), Meanwhile(Patient(), make_again));
  EXPECT_THAT(
      m.validity.faults,
      ElementsAre(Fault(ValidityGate::kIdentityChanged,
                        "^the second snapshot could not be read: .*gone.*" + cpu.relative_path)));
  ExpectInconclusive(m);
}

TEST_F(Gates, AProcessThatLeavesItsCgroupIsTold) {
  const auto service = Start({.cpus = 0.5});
  const std::string directory = service->cgroup().location().cpu.value().directory();
  const std::string home = directory.substr(0, directory.rfind('/')) + "/cgroup.procs";
  const auto leave = [&] { WriteTo(home, std::to_string(service->pid())); };
  const Measurement m =
      MeasureService(*service, kTwoSeconds, Get("/burn?ms=1"), Meanwhile(Patient(), leave));
  EXPECT_THAT(m.validity.faults,
              ElementsAre(Fault(ValidityGate::kMoved, "is in cpu cgroup .* instead of /")));
  ExpectInconclusive(m);
  WriteTo(directory + "/cgroup.procs", std::to_string(service->pid()));
}

}  // namespace
}  // namespace throttletest::test
