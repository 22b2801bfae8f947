// How many processors a JVM derives from a CPU limit, and which collector it picks.
//
// The JVM sizes its pools and chooses its collector by that number, once, when it starts. It rounds
// the limit up: half a CPU is one processor, and a JVM that believes in one takes the serial
// collector. The table has what a real one said, what the rule says for this machine, and what is
// published.
//
// Needs a `java` that can run a source file (11 or later, with jdk.compiler); skipped by name
// without one. With --throttletest_launcher=docker the same runs in containers, whose image is made
// from the JVM of this machine.
#include <throttletest/throttletest.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <optional>
#include <string>
#include <thread>
#include <vector>

using namespace throttletest;
using namespace std::chrono_literals;

namespace {

namespace fs = std::filesystem;

// The real folder of the first `java` in PATH: "/usr/lib/jvm/java-17-openjdk-amd64". Absent: none.
std::optional<fs::path> JavaHome() {
  const char* path = std::getenv("PATH");
  std::string rest = path == nullptr ? "" : path;
  while (!rest.empty()) {
    const std::size_t colon = rest.find(':');
    std::error_code ec;
    const fs::path java = fs::canonical(fs::path(rest.substr(0, colon)) / "java", ec);
    if (!ec && java.parent_path().filename() == "bin") return java.parent_path().parent_path();
    rest = colon == std::string::npos ? "" : rest.substr(colon + 1);
  }
  return std::nullopt;
}

struct Setting {
  const char* name;
  std::optional<double> cpus;
  int flag;  // -XX:ActiveProcessorCount. Absent: 0
  const char* published;
};

// Memory is held at 2 GiB, because the choice of the collector depends on it as well.
const std::vector<Setting> kSettings = {
    {"none", std::nullopt, 0, "all of the machine"},
    {"0.1", 0.1, 0, "1"},
    {"0.5", 0.5, 0, "1, serial"},
    {"1", 1, 0, "1, serial"},
    {"1.5", 1.5, 0, "2"},
    {"2", 2, 0, "2, G1"},
    {"2.5", 2.5, 0, "3"},
    {"4", 4, 0, "4, G1"},
    {"0.5, ActiveProcessorCount=2", 0.5, 2, "2"},
};

struct Answer {
  int processors = 0;
  std::string collector;
};

// From the line "processors 2 collector G1."
std::optional<Answer> Parse(const std::string& log) {
  const std::size_t at = log.find("processors ");
  if (at == std::string::npos) return std::nullopt;
  Answer answer;
  char collector[16] = "";
  if (std::sscanf(log.c_str() + at, "processors %d collector %15[^.]", &answer.processors,
                  collector) != 2) {
    return std::nullopt;
  }
  answer.collector = collector;
  return answer;
}

class JvmProcessors : public ThrottleTestBase {
 protected:
  void SetUp() override {
    home_ = JavaHome();
    if (!home_) GTEST_SKIP() << "no java in PATH: install a JRE, for example with ci/setup --jdk";
  }

  // What a JVM under this limit says. Its whole folder goes into a container's image; a Debian
  // package keeps the configuration elsewhere and links to it.
  Answer Ask(const Setting& setting) {
    std::vector<std::string> command = {(*home_ / "bin/java").string(), "-XX:TieredStopAtLevel=1"};
    if (setting.flag > 0) {
      command.push_back("-XX:ActiveProcessorCount=" + std::to_string(setting.flag));
    }
    command.insert(command.end(), {PROCESSORS_JAVA, "{port}"});
    std::vector<std::string> files = {PROCESSORS_JAVA};
    for (const char* folder : {"lib", "conf"}) {
      if (fs::exists(*home_ / folder)) files.push_back((*home_ / folder).string());
    }
    Service& service = Start({.command = command,
                              .limits = {.cpus = setting.cpus, .memory = 2_GiB},
                              .ready = LogLineReady("processors ").Within(3min),
                              .files = files});
    const std::optional<Answer> answer = Parse(service.logs());
    launcher_ = service.launcher_version();
    service.Stop();
    EXPECT_TRUE(answer.has_value()) << "limit " << setting.name;
    return answer.value_or(Answer{});
  }

  std::optional<fs::path> home_;
  std::string launcher_;
};

TEST_F(JvmProcessors, AreTheLimitRoundedUp) {
  const int online = static_cast<int>(std::thread::hardware_concurrency());
  struct Row {
    Setting setting;
    Answer answer;
    int rule;
  };
  std::vector<Row> rows;
  for (const Setting& setting : kSettings) {
    CpuView view{.allowed = online, .online = online};
    if (setting.cpus) {
      view.quota = CpuBandwidth{
          std::chrono::microseconds(static_cast<std::int64_t>(*setting.cpus * 100'000))};
    }
    const int rule = setting.flag > 0 ? setting.flag : DerivedCpuCount(Runtime::kHotSpot, view);
    rows.push_back({setting, Ask(setting), rule});
  }

  std::printf(
      "\nProcessors that a JVM derives from a CPU limit (%s, this host: %d CPUs)\n\n"
      "  %-28s %-10s %-10s %-10s %s\n",
      launcher_.c_str(), online, "limit", "processors", "rule", "collector", "published");
  for (const Row& row : rows) {
    std::printf("  %-28s %-10d %-10d %-10s %s\n", row.setting.name, row.answer.processors, row.rule,
                row.answer.collector.c_str(), row.setting.published);
  }
  std::cout << "\nA process may run on " << online
            << " CPUs here, so no larger limit shows; published was a machine with 4 or more.\n\n";

  for (const Row& row : rows) {
    EXPECT_EQ(row.answer.processors, row.rule) << "limit " << row.setting.name;
    EXPECT_EQ(row.answer.collector, row.rule < 2 ? "serial" : "G1") << "limit " << row.setting.name;
  }
}

}  // namespace
