// `throttletest attach` as a whole program, and Attach() of the fixture.
#include <gmock/gmock.h>
#include <throttletest/throttletest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include <nlohmann/json.hpp>

#include "support/run_binary.h"
#include "support/sample_test.h"

namespace throttletest {
namespace {

using namespace std::chrono_literals;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

// Builds that run beside these tests are not what they are about.
MeasureOptions Anywhere() {
  MeasureOptions options;
  options.bounds.max_others_cpu = options.bounds.max_steal = 1;
  return options;
}

std::unique_ptr<Service> StartBurn() {
  ServiceSpec spec;
  spec.command = {BURN_SERVER, "--port={port}", "--threads=8"};
  spec.limits.cpus = 0.3;
  spec.ready = HttpReady("/healthz");
  spec.launcher = LauncherKind::kCgroup;
  return StartService(spec);
}

std::vector<std::string> Words(std::vector<std::string> options) {
  std::vector<std::string> words = {
      THROTTLETEST, "attach",      "--batch", "8",     "--every",     "400ms",   "--duration",
      "2s",         "--warmup",    "400ms",   "--get", "/burn?ms=10", "--quiet", "--max-others-cpu",
      "1",          "--max-steal", "1"};
  words.insert(words.end(), options.begin(), options.end());
  return words;
}

class AttachCommand : public test::SampleTest {};

TEST_F(AttachCommand, JudgesAServiceThatRunsAndLeavesItBe) {
  const auto service = StartBurn();
  const std::string pid = std::to_string(service->pid());
  const std::string file = (std::filesystem::temp_directory_path() /
                            ("throttletest-attach-" + std::to_string(getpid()) + ".json"))
                               .string();
  const auto run = test::RunBinary(
      Words({"--pid", pid, "--port", std::to_string(service->port()), "--budget",
             "throttle_ratio<0.05", "--budget", "failed_requests<=0", "--json", file}));
  EXPECT_EQ(run.status, 1) << run.out << run.err;
  EXPECT_THAT(run.out,
              AllOf(HasSubstr("MISSED throttle_ratio<0.05"), HasSubstr("MET failed_requests<=0"),
                    HasSubstr("process " + pid + " (burn_server)"),
                    HasSubstr("found, not asked for: CPU 30 ms per 100 ms (0.3 CPUs)")));
  std::ifstream stream(file);
  const auto json = nlohmann::json::parse(stream);
  std::filesystem::remove(file);
  EXPECT_EQ(json["launcher"], "attached");
  EXPECT_TRUE(json["limits"]["requested"]["cpus"].is_null());
  EXPECT_EQ(json["limits"]["effective"]["cpus"], 0.3);
  EXPECT_TRUE(service->alive());
  EXPECT_EQ(service->Trouble(), "");
}

TEST_F(AttachCommand, AnInterruptLeavesTheServiceRunning) {
  const auto service = StartBurn();
  auto words = Words({"--cgroup", service->cgroup().location().cpu->directory(), "--port",
                      std::to_string(service->port())});
  words.erase(std::find(words.begin(), words.end(), "--quiet"));
  const auto run = test::RunBinary(words, {.signal_on_text = "load"});
  EXPECT_EQ(run.status, 130) << run.out << run.err;
  EXPECT_THAT(run.err, HasSubstr("interrupted; the service was left running"));
  EXPECT_TRUE(service->alive());
}

TEST_F(AttachCommand, AServiceThatDiesIsInconclusive) {
  const auto service = StartBurn();
  const std::string pid = std::to_string(service->pid());
  const auto run = test::RunBinary(
      {"sh", "-c",
       "(sleep 1.5; kill -9 " + pid + ") & " + THROTTLETEST + " attach --pid " + pid + " --port " +
           std::to_string(service->port()) +
           " --rate 20 --duration 20s --warmup 0s --get /healthz --budget 'p50<10s'"});
  EXPECT_EQ(run.status, 3) << run.out << run.err;
  EXPECT_THAT(run.out, HasSubstr("the service ended before the second snapshot"));
}

// Bad input: one clear message that quotes it, and the right status.
struct BadTarget {
  const char* name;
  std::vector<std::string> options;
  int status;
  const char* message;
};

void PrintTo(const BadTarget& input, std::ostream* os) { *os << input.name; }

class BadTargetTest : public testing::TestWithParam<BadTarget> {};

TEST_P(BadTargetTest, GetsOneClearMessage) {
  const auto run = test::RunBinary(Words(GetParam().options));
  EXPECT_EQ(run.status, GetParam().status) << run.out << run.err;
  EXPECT_THAT(run.err, HasSubstr(GetParam().message));
}

// A process id above the largest that the kernel gives (2^22).
constexpr const char* kNoPid = "4194305";

INSTANTIATE_TEST_SUITE_P(
    AttachCommand, BadTargetTest,
    testing::Values(
        BadTarget{"None", {"--port", "80"}, 2, "nothing to attach to: give one of --pid"},
        BadTarget{"Two",
                  {"--pid", "1", "--container", "web", "--port", "80"},
                  2,
                  "more than one target: give one of --pid"},
        BadTarget{"PidNotANumber", {"--pid", "web", "--port", "80"}, 2, "--pid \"web\" is not"},
        BadTarget{"PidZero", {"--pid", "0", "--port", "80"}, 2, "process 0 is not possible"},
        BadTarget{"PidEmpty", {"--pid", "", "--port", "80"}, 2, "--pid"},
        BadTarget{"NoSuchPid",
                  {"--pid", kNoPid, "--port", "80"},
                  4,
                  "cannot attach to process 4194305: there is no such process"},
        BadTarget{"ContainerName",
                  {"--container=--rm", "--port", "80"},
                  2,
                  "\"--rm\" is not a container's name or id"},
        BadTarget{"Engine",
                  {"--container", "web", "--engine", "cgroup", "--port", "80"},
                  2,
                  "--engine \"cgroup\" is neither docker nor podman"},
        BadTarget{"EngineWithoutContainer",
                  {"--pid", "1", "--engine", "docker", "--port", "80"},
                  2,
                  "--engine goes with --container"},
        BadTarget{"CgroupRelative",
                  {"--cgroup", "a/b", "--port", "80"},
                  2,
                  "cgroup \"a/b\" does not start with '/'"},
        BadTarget{"CgroupNotThere",
                  {"--cgroup", "/sys/fs/cgroup/no/such", "--port", "80"},
                  2,
                  "/sys/fs/cgroup/no/such: No such file or directory"},
        BadTarget{"CgroupIsAFolder",
                  {"--cgroup", "/proc", "--port", "80"},
                  2,
                  "/proc is not a cgroup, it has no cgroup.procs"},
        BadTarget{"NoPort", {"--pid", "1"}, 2, "give --port PORT, or --unix PATH"},
        BadTarget{"PortZero", {"--pid", "1", "--port", "0"}, 2, "--port \"0\" is not a port"},
        BadTarget{"PortTooLarge", {"--pid", "1", "--port", "65536"}, 2, "--port \"65536\""},
        BadTarget{"PortAndUnix",
                  {"--pid", "1", "--port", "80", "--unix", "/x"},
                  2,
                  "give --port or --unix, not both"},
        BadTarget{"ACommand",
                  {"--pid", "1", "--port", "80", "--", "burn_server"},
                  2,
                  "attach starts nothing"},
        BadTarget{"ALimit", {"--pid", "1", "--port", "80", "--cpus", "2"}, 2, "--cpus"},
        BadTarget{"ABudgetTypo", {"--pid", "1", "--port", "80", "--budget", "p9x<1ms"}, 2, "p9x"}),
    [](const auto& row) { return std::string(row.param.name); });

// The fixture.
class AttachFixture : public ThrottleTestBase {
 protected:
  void SetUp() override {
    if (geteuid() != 0) GTEST_SKIP() << "the cgroup launcher needs root on this kind of host";
  }
};

TEST_F(AttachFixture, MeasuresAServiceThatSomebodyElseKeeps) {
  const auto kept = StartBurn();
  Service& service = Attach({.target = RunningProcess(kept->pid()), .port = kept->port()});
  const Measurement m = MeasureOn(service, Batches(8).Every(300ms).For(1500ms).WarmUp(0s),
                                  Get("/burn?ms=10"), Anywhere());
  EXPECT_THAT(m, AllOf(Not(ThrottleRatioBelow(0.1)), NoFailedRequests()));
  service.Stop();
  EXPECT_TRUE(kept->alive());
}

}  // namespace
}  // namespace throttletest
