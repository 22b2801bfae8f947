// A test process that is killed at any moment of its life leaves nothing behind.
//
// THROTTLETEST_KILLS says how often, for each launcher; THROTTLETEST_SEED repeats a run.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <map>
#include <random>

#include "bystanders.h"
#include "owner_process.h"
#include "remains.h"
#include "support/temp_tree.h"

namespace throttletest::test {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::IsEmpty;

int CountOfKills(LauncherKind launcher) {
  const char* text = std::getenv("THROTTLETEST_KILLS");
  if (text != nullptr && *text != '\0') return std::atoi(text);
  return launcher == LauncherKind::kCgroup ? 6 : 1;  // an engine takes seconds for each
}

// What an owner_program says when a stage of its life begins, and about how long the stage takes.
struct Stage {
  const char* word;
  milliseconds cgroup;
  milliseconds engine;
};
constexpr std::array<Stage, 6> kStages = {{{"", milliseconds(20), milliseconds(20)},
                                           {"starting", milliseconds(60), milliseconds(3000)},
                                           {"warm-up", milliseconds(200), milliseconds(200)},
                                           {"load", milliseconds(200), milliseconds(200)},
                                           {"drain", milliseconds(100), milliseconds(100)},
                                           {"stopping", milliseconds(150), milliseconds(1500)}}};

std::uint64_t Seed() {
  const char* text = std::getenv("THROTTLETEST_SEED");
  if (text != nullptr && *text != '\0') return std::strtoull(text, nullptr, 10);
  return std::random_device()();
}

// How far a process had come, by the last thing it said.
std::string LastWord(const OwnerProcess& owner) {
  if (owner.lines().empty()) return "before the start";
  const std::string& last = owner.lines().back();
  return last.substr(0, last.find_first_of(" :"));
}

class Kills : public ::testing::TestWithParam<LauncherKind> {
 protected:
  void SetUp() override {
    const auto lack = GetParam() == LauncherKind::kCgroup ? internal::CgroupLauncherLack()
                                                          : EngineLack(GetParam());
    if (!lack.empty()) GTEST_SKIP() << lack;
  }

  // A word that nothing else on this machine has on its command line.
  static std::string NewMark() {
    static int count = 0;
    return fmt::format("mark-{}-{}-end", ::getpid(), ++count);
  }
  std::vector<std::string> Words(const char* way, const std::string& mark) const {
    return {way, LauncherName(GetParam()), mark};
  }
  // Empty within the time that watchers take, else what is left.
  static std::vector<std::string> RemainsSoon(pid_t pid, const std::string& mark,
                                              seconds patience = seconds(20)) {
    Soon([&] { return RemainsOf(GetParam(), pid, mark).empty(); }, patience);
    return RemainsOf(GetParam(), pid, mark);
  }
  static std::vector<std::string> Networks() {
    std::vector<std::string> networks;
    if (GetParam() == LauncherKind::kCgroup) return networks;
    std::istringstream lines(
        internal::OpenEngine(GetParam()).Call({"network", "ls", "--format", "{{.Name}}"}).out);
    for (std::string line; std::getline(lines, line);) networks.push_back(line);
    return networks;
  }

  // A whole life without a kill.
  void Live() const {
    const std::string mark = NewMark();
    OwnerProcess owner(Words("live", mark), Env());
    owner.ReadToEnd();
    EXPECT_EQ(owner.Collect(), 0);
    EXPECT_EQ(LastWord(owner), "stopped") << ::testing::PrintToString(owner.lines());
    EXPECT_THAT(RemainsSoon(owner.pid(), mark), IsEmpty());
  }
  // Kills an owner somewhere in `stage`, or a little later.
  static void KillIn(const Stage& stage, OwnerProcess& owner, std::mt19937_64& random) {
    if (*stage.word != '\0') owner.Await(stage.word);
    const milliseconds span = GetParam() == LauncherKind::kCgroup ? stage.cgroup : stage.engine;
    std::this_thread::sleep_for(microseconds(
        std::uniform_int_distribution<std::int64_t>(0, microseconds(span).count())(random)));
    owner.Signal(SIGKILL);
    owner.Collect();
    owner.ReadToEnd();
  }
  std::map<std::string, std::string> Env() const { return {{"TMPDIR", files_.root()}}; }

  testing_support::TempTree files_;
};
INSTANTIATE_TEST_SUITE_P(Launchers, Kills,
                         ::testing::Values(LauncherKind::kCgroup, LauncherKind::kDocker,
                                           LauncherKind::kPodman),
                         EngineName);

TEST_P(Kills, C101AtAnyMomentLeaveNothing) {
  const std::uint64_t seed = Seed();
  SCOPED_TRACE(fmt::format("THROTTLETEST_SEED={}", seed));
  std::mt19937_64 random(seed);
  const Bystanders bystanders(GetParam());
  const auto networks = Networks();
  const auto files = TemporaryFiles();

  std::array<Stage, kStages.size()> stages = kStages;
  std::shuffle(stages.begin(), stages.end(), random);
  std::map<std::string, int> died_in;
  std::vector<std::pair<pid_t, std::string>> killed;
  std::vector<std::uint16_t> ports;
  int left_to_the_next_start = 0;
  for (int i = 0; i < CountOfKills(GetParam()); ++i) {
    const std::string mark = NewMark();
    OwnerProcess owner(Words("live", mark), Env());
    KillIn(stages[static_cast<std::size_t>(i) % stages.size()], owner, random);
    ++died_in[LastWord(owner)];
    for (const std::string& line : owner.lines()) {
      if (line.starts_with("port ")) {
        ports.push_back(static_cast<std::uint16_t>(std::atoi(line.c_str() + 5)));
      }
    }
    if (!RemainsSoon(owner.pid(), mark).empty()) ++left_to_the_next_start;
    killed.emplace_back(owner.pid(), mark);
  }
  Live();  // the one further start, which sweeps

  for (const auto& [pid, mark] : killed) {
    EXPECT_THAT(RemainsSoon(pid, mark, seconds(0)), IsEmpty());
  }
  for (const std::uint16_t port : ports) EXPECT_FALSE(ListenedOn(port)) << port;
  EXPECT_EQ(Networks(), networks);
  EXPECT_EQ(TemporaryFiles(), files);
  EXPECT_THAT(NamesIn(files_.root()), IsEmpty());
  EXPECT_THAT(bystanders.Harm(), IsEmpty());
  fmt::print("seed {}, killed in {}; {} left something to the next start\n", seed,
             ::testing::PrintToString(died_in), left_to_the_next_start);
}

// C100 and C105: each service has 50 children, and all of them ignore SIGTERM.
TEST_P(Kills, C103OfTwoOwnersOfOneSpecOneDiesAndTheOtherGoesOn) {
  const std::string first_mark = NewMark();
  const std::string second_mark = NewMark();
  OwnerProcess first(Words("wait", first_mark), Env());
  OwnerProcess second(Words("wait", second_mark), Env());
  ASSERT_GT(std::atoi(first.Await("ready").c_str()), 0);
  const pid_t service = std::atoi(second.Await("ready").c_str());
  ASSERT_GT(service, 0);
  first.Signal(SIGABRT);
  first.Collect();
  EXPECT_THAT(RemainsSoon(first.pid(), first_mark), IsEmpty());
  EXPECT_TRUE(ProcessLives(service)) << "the other's service";
  second.Signal(SIGINT);
  second.Collect();
  EXPECT_THAT(RemainsSoon(second.pid(), second_mark), IsEmpty());
  EXPECT_FALSE(ProcessLives(service));
}

}  // namespace
}  // namespace throttletest::test
