#include "options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace burn_server {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

Options Accepted(const std::vector<std::string>& arguments, const char* env = nullptr) {
  const auto parsed = ParseCommandLine(arguments, env);
  EXPECT_FALSE(parsed.exit) << parsed.exit.value_or(EarlyExit{}).text;
  return parsed.options;
}

TEST(Options, HaveDefaults) {
  const auto options = Accepted({});
  EXPECT_EQ(options.command, Command::kServe);
  EXPECT_EQ(options.host, "127.0.0.1");
  EXPECT_EQ(options.port, 8080);
  EXPECT_EQ(options.threads, 8U);
  EXPECT_EQ(options.Slots(), 8U);
  EXPECT_FALSE(options.queue_depth);
  EXPECT_FALSE(options.iters_per_ms);
}

TEST(Options, ReadEveryOption) {
  const auto options = Accepted({"--host=0.0.0.0", "--port", "0", "--threads=4", "--workers=1",
                                 "--queue-depth=6", "--iters-per-ms=1234"});
  EXPECT_EQ(options.host, "0.0.0.0");
  EXPECT_EQ(options.port, 0);
  EXPECT_EQ(options.threads, 4U);
  EXPECT_EQ(options.Slots(), 1U);
  EXPECT_EQ(options.queue_depth, 6U);
  EXPECT_EQ(options.iters_per_ms, 1234U);
  EXPECT_EQ(options.iters_source, "--iters-per-ms");
}

TEST(Options, WorkersDefaultToThreads) { EXPECT_EQ(Accepted({"--threads=3"}).Slots(), 3U); }

TEST(Options, EnvironmentGivesTheRateUnlessAnOptionDoes) {
  EXPECT_EQ(Accepted({}, "777").iters_per_ms, 777U);
  EXPECT_EQ(Accepted({}, "777").iters_source, "ITERS_PER_MS");
  EXPECT_EQ(Accepted({"--iters-per-ms=5"}, "777").iters_per_ms, 5U);
  EXPECT_EQ(Accepted({"--iters-per-ms=5"}, "nonsense").iters_per_ms, 5U);
}

TEST(Options, CalibrateIsACommand) {
  EXPECT_EQ(Accepted({"calibrate"}).command, Command::kCalibrate);
  EXPECT_FALSE(Accepted({"calibrate"}).json);
  EXPECT_TRUE(Accepted({"calibrate", "--json"}).json);
}

TEST(Options, HelpIsStatusZeroAndSaysWhatThreadsMeans) {
  const auto parsed = ParseCommandLine({"--help"}, nullptr);
  ASSERT_TRUE(parsed.exit);
  EXPECT_EQ(parsed.exit->status, 0);
  EXPECT_THAT(parsed.exit->text, AllOf(HasSubstr("--threads"), HasSubstr("worked on at once"),
                                       HasSubstr("Not a limit on connections")));
}

struct BadCase {
  const char* name;
  std::vector<std::string> arguments;
  const char* env;
  const char* text;
};

void PrintTo(const BadCase& bad, std::ostream* os) { *os << bad.name; }

class BadOptions : public testing::TestWithParam<BadCase> {};

TEST_P(BadOptions, AreStatusTwoAndOneLine) {
  const auto parsed = ParseCommandLine(GetParam().arguments, GetParam().env);
  ASSERT_TRUE(parsed.exit);
  EXPECT_EQ(parsed.exit->status, 2);
  EXPECT_THAT(parsed.exit->text, AllOf(StartsWith("burn_server: "), HasSubstr(GetParam().text)));
  EXPECT_EQ(parsed.exit->text.find('\n'), parsed.exit->text.size() - 1);
}

INSTANTIATE_TEST_SUITE_P(
    CommandLine, BadOptions,
    testing::Values(BadCase{"UnknownOption", {"--prot=1"}, nullptr, "--prot"},
                    BadCase{"UnknownWord", {"serve"}, nullptr, "serve"},
                    BadCase{"PortTooLarge", {"--port=65536"}, nullptr, "--port"},
                    BadCase{"PortNegative", {"--port=-1"}, nullptr, "--port"},
                    BadCase{"PortText", {"--port=http"}, nullptr, "http"},
                    BadCase{"NoThreads", {"--threads=0"}, nullptr, "--threads"},
                    BadCase{"NoWorkers", {"--workers=0"}, nullptr, "--workers"},
                    BadCase{"NegativeDepth", {"--queue-depth=-1"}, nullptr, "--queue-depth"},
                    BadCase{"ZeroRate", {"--iters-per-ms=0"}, nullptr, "--iters-per-ms"},
                    BadCase{"MissingValue", {"--port"}, nullptr, "--port"},
                    BadCase{
                        "BadEnvironment", {}, "fast", "ITERS_PER_MS=\"fast\" in the environment"},
                    BadCase{"EmptyEnvironment", {}, "", "ITERS_PER_MS=\"\""},
                    BadCase{"ZeroEnvironment", {}, "0", "1..1000000000"},
                    BadCase{"JsonWithoutCalibrate", {"--json"}, nullptr, "--json"}),
    [](const auto& test) { return std::string(test.param.name); });

}  // namespace
}  // namespace burn_server
