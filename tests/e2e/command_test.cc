#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include <nlohmann/json.hpp>

#include "support/run_binary.h"
#include "support/sample_test.h"

namespace throttletest {
namespace {

using testing::AllOf;
using testing::HasSubstr;

std::vector<std::string> Words(std::vector<std::string> options, std::vector<std::string> command) {
  std::vector<std::string> words = {
      THROTTLETEST, "run", "--launcher", "cgroup", "--batch", "8", "--every", "500ms", "--duration",
      "6s", "--warmup", "1s", "--get", "/burn?ms=20", "--quiet",
      // Builds that run beside these tests are not what they are about.
      "--max-others-cpu", "1", "--max-steal", "1"};
  words.insert(words.end(), options.begin(), options.end());
  words.push_back("--");
  words.insert(words.end(), command.begin(), command.end());
  return words;
}

const std::vector<std::string> kBurn = {BURN_SERVER, "--port={port}", "--threads=8"};

class Command : public test::SampleTest {};

TEST_F(Command, MeetsBudgetsWithStatusZero) {
  const auto run = test::RunBinary(Words(
      {"--cpus", "2", "--budget", "throttle_ratio<0.2", "--budget", "failed_requests<=0"}, kBurn));
  EXPECT_EQ(run.status, 0) << run.out << run.err;
  EXPECT_THAT(run.out, HasSubstr("MET throttle_ratio<0.2"));
}

TEST_F(Command, MissesABudgetWithStatusOneAndWritesJson) {
  const std::string file = (std::filesystem::temp_directory_path() /
                            ("throttletest-run-" + std::to_string(getpid()) + ".json"))
                               .string();
  const auto run = test::RunBinary(
      Words({"--cpus", "0.5", "--budget", "throttle_ratio<0.05", "--json", file}, kBurn));
  EXPECT_EQ(run.status, 1) << run.out << run.err;
  EXPECT_THAT(run.out, AllOf(HasSubstr("MISSED throttle_ratio<0.05"), HasSubstr("would fit")));
  std::ifstream stream(file);
  const auto json = nlohmann::json::parse(stream);
  std::filesystem::remove(file);
  EXPECT_EQ(json["schema"], "throttletest/run/1");
  EXPECT_EQ(json["launcher"], "cgroup");
  EXPECT_EQ(json["load"]["planned"], 96);
  EXPECT_EQ(json["load"]["planned"].get<int>(),
            json["load"]["ok"].get<int>() + json["load"]["failed"].get<int>() +
                json["load"]["timed_out"].get<int>() + json["load"]["not_sent"].get<int>());
  EXPECT_GT(json["cpu"]["throttle_ratio"].get<double>(), 0.4);
  EXPECT_GT(json["cpu"]["throttled_ns"].get<std::int64_t>(), 0);
  for (const char* key : {"nr_periods", "nr_throttled", "usage_ns", "usage_cores"}) {
    EXPECT_TRUE(json["cpu"][key].is_number()) << key;
  }
  for (const char* key : {"p50", "p90", "p99", "max"}) {
    EXPECT_TRUE(json["response_ms"].contains(key) && json["service_ms"].contains(key)) << key;
  }
  EXPECT_TRUE(json["start_lag_ms"]["max"].is_number());
  EXPECT_EQ(json["batch_order_median_ms"].size(), 8u);
  EXPECT_EQ(json["validity"]["status"], "trusted");
  EXPECT_EQ(json["verdicts"][0]["verdict"], "missed");
  EXPECT_TRUE(json.contains("environment") && json["limits"].contains("requested") &&
              json["limits"].contains("effective") && json["memory"].contains("peak_bytes"));
}

TEST_F(Command, IsInconclusiveWithoutAQuotaAndSaysNullNotZero) {
  const std::string file = (std::filesystem::temp_directory_path() /
                            ("throttletest-null-" + std::to_string(getpid()) + ".json"))
                               .string();
  const auto run =
      test::RunBinary(Words({"--budget", "throttle_ratio<0.9", "--json", file}, kBurn));
  EXPECT_EQ(run.status, 3) << run.out << run.err;
  std::ifstream stream(file);
  const auto json = nlohmann::json::parse(stream);
  std::filesystem::remove(file);
  EXPECT_TRUE(json["cpu"]["throttle_ratio"].is_null());
  EXPECT_TRUE(json["cpu"]["nr_periods"].is_null());
  EXPECT_TRUE(json["cpu"]["throttled_ns"].is_null());
  EXPECT_THAT(json["not_available"].dump(), HasSubstr("no CPU quota in force"));
}

TEST_F(Command, IsInconclusiveWhenTheServiceDies) {
  const auto run = test::RunBinary(
      Words({"--budget", "p50<10s", "--retries", "0", "--ready-http", "/healthz"},
            {"sh", "-c",
             "sh -c 'sleep 4; kill -9 $1' x $$ & exec " + std::string(BURN_SERVER) + " --port=$0",
             "{port}"}));
  EXPECT_EQ(run.status, 3) << run.out << run.err;
  EXPECT_THAT(run.out, HasSubstr("SIGKILL"));
}

TEST_F(Command, StopsOnASignalLeavingNothing) {
  auto words = Words({}, kBurn);
  words.erase(std::find(words.begin(), words.end(), "--quiet"));
  // SIGHUP: the terminal was closed.
  for (const int signal : {SIGINT, SIGHUP}) {
    const auto run = test::RunBinary(words, {.signal_on_text = "load", .signal = signal});
    EXPECT_EQ(run.status, 130) << run.out << run.err;
  }
}

TEST_F(Command, SurvivesAFullStderrAndReportsAFullStdout) {
  const std::string run =
      std::string(THROTTLETEST) +
      " run --launcher cgroup --batch 1 --every 100ms --duration 300ms --warmup 0s "
      "--get /healthz -- " BURN_SERVER " --port={port} ";
  EXPECT_EQ(test::RunBinary({"sh", "-c", run + "2>/dev/full"}).status, 0);
  EXPECT_EQ(test::RunBinary({"sh", "-c", run + "2>&-"}).status, 0);
  const auto full = test::RunBinary({"sh", "-c", run + ">/dev/full"});
  EXPECT_EQ(full.status, 5);
  EXPECT_THAT(full.err, HasSubstr("cannot write the result"));
  EXPECT_EQ(
      test::RunBinary({"sh", "-c", std::string(THROTTLETEST) + " doctor --json >/dev/full"}).status,
      5);
  // No pipe of the command's own takes the number of a closed stream.
  const auto no_input = test::RunBinary({"sh", "-c", run + "<&- 2>&-"});
  EXPECT_EQ(no_input.status, 0);
  EXPECT_THAT(no_input.out, HasSubstr("requests"));
  EXPECT_EQ(test::RunBinary({"sh", "-c", run + "<&- >&- 2>&-"}).status, 5);
}

TEST_F(Command, IsInconclusiveWhenNothingWasAnsweredWell) {
  const auto run = test::RunBinary({THROTTLETEST,
                                    "run",
                                    "--launcher",
                                    "cgroup",
                                    "--batch",
                                    "1",
                                    "--every",
                                    "100ms",
                                    "--duration",
                                    "300ms",
                                    "--warmup",
                                    "0s",
                                    "--get",
                                    "/nonexistent",
                                    "--budget",
                                    "cpu_usage<2",
                                    "--max-others-cpu",
                                    "1",
                                    "--max-steal",
                                    "1",
                                    "--",
                                    BURN_SERVER,
                                    "--port={port}"});
  EXPECT_EQ(run.status, 3) << run.out << run.err;
  EXPECT_THAT(run.out, HasSubstr("no request succeeded, 3 of 3 failed"));
}

// The pattern is checked before the service is started.
TEST_F(Command, RefusesABadPattern) {
  const auto run = [](const std::vector<std::string>& options) {
    std::vector<std::string> words = {THROTTLETEST, "run", "--get", "/"};
    words.insert(words.end(), options.begin(), options.end());
    words.insert(words.end(), {"--", BURN_SERVER, "--port={port}"});
    const auto ran = test::RunBinary(words);
    EXPECT_EQ(ran.status, 2) << ran.out;
    return ran.err;
  };
  EXPECT_THAT(run({}), HasSubstr("no load: give --batch"));
  EXPECT_THAT(run({"--ramp", "10"}), HasSubstr("--ramp \"10\" is not FROM:TO"));
  EXPECT_THAT(run({"--ramp", ":5"}), HasSubstr("throttletest: --ramp \"\" is not a number"));
  EXPECT_THAT(run({"--rate", "0"}), HasSubstr("--rate 0: rate 0 per second is out of range"));
  EXPECT_THAT(run({"--batch", "0"}), HasSubstr("--batch 0: batch size 0 is out of range"));
  EXPECT_THAT(run({"--ramp", "0:0"}), HasSubstr("from 0 to 0"));
  EXPECT_THAT(run({"--steps", "10:1s,20"}), HasSubstr("is not RATE:DURATION"));
  EXPECT_THAT(run({"--steps", "10:1"}), HasSubstr("no unit"));
  EXPECT_THAT(run({"--steps", "10:1s", "--duration", "5s"}), HasSubstr("each step has its own"));
  EXPECT_THAT(run({"--poisson", "10", "--seed", "-1"}), HasSubstr("--seed \"-1\""));
  EXPECT_THAT(run({"--rate", "10", "--every", "1s"}), HasSubstr("--every goes with --batch"));
}

TEST_F(Command, DrivesAMixAtRandomInstants) {
  const std::string file = (std::filesystem::temp_directory_path() /
                            ("throttletest-mix-" + std::to_string(getpid()) + ".json"))
                               .string();
  const auto run = test::RunBinary({THROTTLETEST, "run",
                                    "--launcher", "cgroup",
                                    "--poisson",  "100",
                                    "--seed",     "7",
                                    "--duration", "2s",
                                    "--warmup",   "0s",
                                    "--get",      "3:/healthz",
                                    "--get",      "1:/burn?ms=1",
                                    "--quiet",    "--max-others-cpu",
                                    "1",          "--max-steal",
                                    "1",          "--json",
                                    file,         "--",
                                    BURN_SERVER,  "--port={port}"});
  EXPECT_EQ(run.status, 0) << run.out << run.err;
  std::ifstream stream(file);
  const auto json = nlohmann::json::parse(stream);
  std::filesystem::remove(file);
  EXPECT_EQ(json["load"]["kinds"], (nlohmann::json{"GET /healthz", "GET /burn?ms=1"}));
  EXPECT_EQ(json["load"]["request"], "3 of GET /healthz, 1 of GET /burn?ms=1");
  EXPECT_THAT(json["load"]["plan"].get<std::string>(), HasSubstr("Poisson, seed 7"));
  EXPECT_GT(json["load"]["ok"].get<int>(), 100);
}

TEST_F(Command, DoctorSaysWhatWorks) {
  const auto run = test::RunBinary({THROTTLETEST, "doctor"});
  EXPECT_EQ(run.status, 0) << run.out;
  EXPECT_THAT(run.out, AllOf(HasSubstr("cgroup"), HasSubstr("docker"), HasSubstr("podman")));
  const auto json = test::RunBinary({THROTTLETEST, "doctor", "--json"});
  EXPECT_EQ(json.status, run.status);
  const auto document = nlohmann::json::parse(json.out);
  EXPECT_TRUE(document["can_measure"].get<bool>());
  std::vector<std::string> topics;
  for (const auto& finding : document["findings"]) {
    topics.push_back(finding["topic"]);
    if (finding["status"] != "ok") {
      EXPECT_NE(finding["advice"], "") << finding;
    }
  }
  EXPECT_THAT(topics, testing::IsSupersetOf({"kernel", "container", "cgroups", "cgroup cpu",
                                             "cgroup permission", "unseen levels", "cores",
                                             "launcher cgroup", "launcher docker",
                                             "launcher podman", "host lock", "leftovers"}));
}

// Bad input: one clear message that quotes it, the right status, and nothing started or left.
struct BadInput {
  const char* name;
  std::vector<std::string> options;
  std::vector<std::string> command;
  int status;
  const char* message;
};

void PrintTo(const BadInput& input, std::ostream* os) { *os << input.name; }

class BadInputTest : public test::SampleTest, public testing::WithParamInterface<BadInput> {};

TEST_P(BadInputTest, GetsOneClearMessage) {
  const BadInput& input = GetParam();
  const auto run = test::RunBinary(Words(input.options, input.command));
  EXPECT_EQ(run.status, input.status) << run.out << run.err;
  EXPECT_THAT(run.err, HasSubstr(input.message));
}

INSTANTIATE_TEST_SUITE_P(
    Command, BadInputTest,
    testing::Values(
        BadInput{"CpusZero", {"--cpus", "0"}, kBurn, 2, "cpus 0"},
        BadInput{"CpusNegative", {"--cpus", "-1"}, kBurn, 2, "-1"},
        BadInput{"CpusTooSmall", {"--cpus", "0.001"}, kBurn, 2, "0.001"},
        BadInput{"CpusNotANumber", {"--cpus", "nan"}, kBurn, 2, "nan"},
        BadInput{"PeriodTooShort",
                 {"--quota", "1ms", "--period", "100us"},
                 kBurn,
                 2,
                 "did you mean 100 ms"},
        BadInput{"PeriodTooLong", {"--quota", "1s", "--period", "2s"}, kBurn, 2, "2 s"},
        BadInput{"PeriodWithoutUnit", {"--period", "100"}, kBurn, 2, "no unit"},
        BadInput{"CpusetDoubleDash", {"--cpuset", "1--3"}, kBurn, 2, "1--3"},
        BadInput{"CpusetOpenEnd", {"--cpuset", "0-"}, kBurn, 2, "0-"},
        BadInput{"CpusetNotThere", {"--cpuset", "99"}, kBurn, 2, "99"},
        BadInput{"MemoryOneByte", {"--memory", "1"}, kBurn, 2, "6 MiB"},
        BadInput{
            "SwapBelowMemory", {"--memory", "64m", "--memory-swap", "32m"}, kBurn, 2, "32 MiB"},
        BadInput{"MissingBinary",
                 {},
                 {"burn_servr", "--port={port}"},
                 4,
                 "burn_servr: not found in PATH"},
        BadInput{"NothingToRun", {}, {}, 2, "nothing to run"},
        BadInput{"NeverListens", {"--ready-timeout", "1s"}, {"sleep", "30"}, 4, "not ready"},
        BadInput{
            "ExitsAtOnce", {}, {"sh", "-c", "echo broken >&2; exit 3"}, 4, "exited with status 3"},
        BadInput{"Answers500",
                 {"--ready-http", "/no-such-page", "--ready-timeout", "1s"},
                 kBurn,
                 4,
                 "404"},
        BadInput{"BudgetTypo", {"--budget", "p9x<1ms"}, kBurn, 2, "p9x"},
        BadInput{"BudgetWithoutUnit", {"--budget", "p99<150"}, kBurn, 2, "unit"},
        BadInput{"BudgetAbove", {"--budget", "p99>150ms"}, kBurn, 2, "p99>150ms"},
        BadInput{
            "OctalBatch", {"--min-periods", "010"}, kBurn, 2, "\"010\" is not plain: write 10"},
        BadInput{"PeriodsThatDoNotFit",
                 {"--min-periods", "99999999999999999999"},
                 kBurn,
                 2,
                 "99999999999999999999"},
        BadInput{"EmptyErrorRate",
                 {"--budget", "p99<1s", "--until-decided="},
                 kBurn,
                 2,
                 "--until-decided: the value is empty"},
        BadInput{"TwoErrorRates",
                 {"--budget", "p99<1s", "--until-decided=0.1", "--until-decided=0.2"},
                 kBurn,
                 2,
                 "--until-decided"},
        BadInput{"NothingToDecide", {"--until-decided"}, kBurn, 2, "needs a budget to decide"},
        BadInput{"ErrorRateTooLarge",
                 {"--budget", "p99<1s", "--until-decided=0.5"},
                 kBurn,
                 2,
                 "error rate 0.5"},
        BadInput{
            "UnwritableJson", {"--json", "/no/such/folder/x.json"}, kBurn, 2, "/no/such/folder"},
        BadInput{"EmptyJson", {"--json", ""}, kBurn, 2, "--json"},
        BadInput{"EmptyReadyLog", {"--ready-log", ""}, kBurn, 2, "--ready-log"},
        BadInput{"TwoPatterns", {"--rate", "5"}, kBurn, 2, "only one of --batch, --rate"},
        BadInput{"SeedWithoutPoisson", {"--seed", "5"}, kBurn, 2, "--seed goes with --poisson"},
        BadInput{
            "WeightOfNothing", {"--get", "x:/a"}, kBurn, 2, "weight \"x\" is not a whole number"},
        BadInput{"WeightOutOfRange", {"--get", "0:/a"}, kBurn, 2, "weight 0 of GET /a"},
        BadInput{"TargetWithoutSlash", {"--get", "a"}, kBurn, 2, "--get a"},
        BadInput{"TlsOptionWithoutTls", {"--tls-insecure"}, kBurn, 2, "go with --tls"},
        BadInput{
            "TlsCaNotThere", {"--tls", "--tls-ca", "/no/such/ca.pem"}, kBurn, 2, "/no/such/ca.pem"},
        BadInput{"TlsCheckedAndNot",
                 {"--tls", "--tls-insecure", "--tls-ca", "/etc/hosts"},
                 kBurn,
                 2,
                 "checks nothing"},
        BadInput{"TlsWithPlainReadiness",
                 {"--tls", "--ready-http", "/healthz"},
                 kBurn,
                 2,
                 "speaks plain HTTP"},
        BadInput{"UnixNobodyListens",
                 {"--unix", "/tmp/throttletest-no.sock", "--ready-timeout", "300ms"},
                 {"sleep", "30"},
                 4,
                 "connection is accepted on /tmp/throttletest-no.sock"},
        BadInput{"GetAndPost", {"--post", "/x"}, kBurn, 2, "not both"},
        BadInput{"UnixPathTooLong", {"--unix", "/" + std::string(200, 'x')}, kBurn, 2, "107"},
        BadInput{"UnknownOption", {"--cpu", "1"}, kBurn, 2, "--cpu"}),
    [](const auto& test) { return std::string(test.param.name); });

TEST_F(Command, RefusesAnUnknownLauncher) {
  const auto run = test::RunBinary({THROTTLETEST, "run", "--launcher", "dokcer", "--batch", "1",
                                    "--get", "/", "--", "sleep", "1"});
  EXPECT_EQ(run.status, 2);
  EXPECT_THAT(run.err, HasSubstr("dokcer"));
}

TEST_F(Command, RefusesToDecideARampByItsBeginning) {
  const auto run =
      test::RunBinary({THROTTLETEST, "run", "--launcher", "cgroup", "--ramp", "1:5", "--get", "/",
                       "--budget", "p99<1s", "--until-decided", "--", "sleep", "1"});
  EXPECT_EQ(run.status, 2);
  EXPECT_THAT(run.err, HasSubstr("its load changes"));
}

TEST_F(Command, RefusesAPortThatIsInUse) {
  // The service insists on a port that a stranger holds; the stranger must not be measured.
  const auto run = test::RunBinary(
      {"sh", "-c",
       std::string(BURN_SERVER) +
           " --port=0 > /tmp/throttletest-port.$$ & server=$!; sleep 1; "
           "port=$(sed -n 's/.*127.0.0.1:\\([0-9]*\\).*/\\1/p' /tmp/throttletest-port.$$ | head "
           "-1); " THROTTLETEST " run --launcher cgroup --batch 1 --duration 1s --warmup 0s --get "
           "/healthz --ready-timeout 3s -- " BURN_SERVER
           " --port=$port; status=$?; kill $server; rm /tmp/throttletest-port.$$; exit $status"});
  EXPECT_EQ(run.status, 4) << run.out << run.err;
  EXPECT_THAT(run.err, HasSubstr("Address already in use"));
}

}  // namespace
}  // namespace throttletest
