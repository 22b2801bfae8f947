// The command measures inside a container that has a CPU limit of its own, as in a CI job.
#include <filesystem>
#include <memory>

#include <nlohmann/json.hpp>

#include "cgroup/writer.h"
#include "integration/service/engine_support.h"
#include "service/cgroup_place.h"
#include "service/engine_container.h"
#include "support/temp_tree.h"

namespace throttletest::test {
namespace {

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::Not;

// What a container said, how it ended, and the result that it wrote. Absent: null.
struct Said {
  int status = -1;
  std::string text;
  nlohmann::json run = nullptr;
};

// With shell words for the measured service at `cpus`: status is the command's.
std::string Measure(const std::string& cpus) {
  return std::string(THROTTLETEST) + " run --launcher cgroup --cpus " + cpus +
         " --batch 8 --every 150ms --duration 900ms --warmup 0s --get '/burn?ms=8'"
         // Only the runner's own limit is what these tests are about.
         " --max-others-cpu 1 --max-steal 1 --max-start-lag 30s --min-periods 5 --retries 0"
         " --quiet --budget 'failed_requests<=100000' --json /out/run.json -- " BURN_SERVER
         " --port={port} --threads=4";
}

class InsideContainer : public EngineTest {
 protected:
  void SetUp() override {
    EngineTest::SetUp();
    if (IsSkipped()) return;
    if (Engine().info.rootless) GTEST_SKIP() << "a rootless container cannot make cgroups here";
  }

  // Runs a shell script in a container with `options`. Its cgroup file systems are read-only.
  Said Run(const std::string& script, const std::vector<std::string>& options) const {
    internal::Engine engine = Engine();
    auto& to = engine.run_options;
    // The shell and what the programs load.
    to.insert(to.end(), {"--volume", "/usr:/usr:ro", "--security-opt", "apparmor=unconfined",
                         "--env", "PATH=/usr/bin:/usr/sbin"});
    for (const char* program : {THROTTLETEST, BURN_SERVER}) {
      to.insert(to.end(), {"--volume", std::string(program) + ":" + program + ":ro"});
    }
    const testing_support::TempTree out;
    to.insert(to.end(), {"--volume", out.root() + ":/out"});
    to.insert(to.end(), options.begin(), options.end());
    internal::EngineContainer container(engine);
    internal::LaunchRequest request;
    request.command = {"sh", "-c", script};
    container.Start(request);
    const auto state = container.InspectEnded(std::chrono::seconds(60));
    Said said{.status = state && state->exit_code ? *state->exit_code : -1,
              .text = container.Logs()};
    if (out.Exists("run.json")) said.run = nlohmann::json::parse(out.Read("run.json"));
    return said;
  }

  // With writable cgroup file systems. --privileged asks for every capability, which not every test
  // machine may give.
  Said RunWritable(const std::string& script, std::vector<std::string> options) const {
    options.insert(options.end(), {"--cap-add", "SYS_ADMIN"});
    return Run(
        "for m in /sys/fs/cgroup /sys/fs/cgroup/*; do mount -o remount,bind,rw $m; done "
        "2> /dev/null; " +
            script,
        options);
  }

  static bool OnV1() { return DetectCgroupMode() != CgroupMode::kUnified; }
};
INSTANTIATE_TEST_SUITE_P(Engines, InsideContainer,
                         ::testing::Values(LauncherKind::kDocker, LauncherKind::kPodman),
                         EngineName);

// What is the same in both engines, tried in one of them.
class InsidePodman : public InsideContainer {};
INSTANTIATE_TEST_SUITE_P(Engines, InsidePodman, ::testing::Values(LauncherKind::kPodman),
                         EngineName);

void ExpectTrusted(const Said& said, const std::string& unseen) {
  EXPECT_EQ(said.status, 0) << said.text;
  const nlohmann::json& run = said.run;
  ASSERT_TRUE(run.is_object()) << said.text;
  EXPECT_EQ(run["validity"]["status"], "trusted") << said.text;
  EXPECT_EQ(run["verdicts"][0]["verdict"], "met");
  EXPECT_DOUBLE_EQ(run["limits"]["effective"]["cpus"], 0.5);
  EXPECT_TRUE(run["limits"]["effective"]["ancestors_hidden"]);
  EXPECT_THAT(run["limits"]["effective"]["unseen"].get<std::string>(), HasSubstr(unseen));
  EXPECT_THAT(said.text, HasSubstr("not seen from here: the levels above"));
}

TEST_P(InsidePodman, EnoughCpuGivesATrustedVerdictThatNamesWhatIsUnseen) {
  ExpectTrusted(RunWritable(Measure("0.5"), {"--cgroupns", "private", "--cpus", "1.9"}),
                "the root of a cgroup namespace");
}

TEST_P(InsideContainer, ALimitOfTheContainerThatIsUsedUpMakesTheRunInconclusive) {
  const Said said = RunWritable(Measure("0.3"), {"--cgroupns", "private", "--cpus", "0.3"});
  EXPECT_EQ(said.status, 3) << said.text;
  const nlohmann::json& run = said.run;
  ASSERT_TRUE(run.is_object()) << said.text;
  EXPECT_EQ(run["verdicts"][0]["verdict"], "inconclusive");
  EXPECT_EQ(run["validity"]["reasons"][0]["gate"], "own_throttled") << said.text;
  EXPECT_THAT(
      run["validity"]["reasons"][0]["text"].get<std::string>(),
      MatchesRegex("the test process, which sends the load, was itself throttled in [0-9]+ periods "
                   "by /.* \\(30 ms per 100 ms \\(0.3 CPUs\\)\\), above 0: .*"));
}

// One container is enough for both: an engine takes seconds to make and remove one.
TEST_P(InsideContainer, AReadOnlyTreeIsRefusedWithTheLineThatMakesItWritable) {
  const std::string run = Measure("0.5");
  const Said said = Run(
      // What an ordinary container may do, and then what one that may mount may do.
      "setpriv --bounding-set -sys_admin " THROTTLETEST " doctor; (" + run +
          ") > /tmp/refusal 2>&1; "
          "echo refused with $?; cat /tmp/refusal; "
          "line=$(sed -n 's/.*make it writable with: \\(.*\\), or use .*/\\1/p' /tmp/refusal); "
          "echo \"line: $line\"; eval \"$line\"; " +
          run,
      {"--cap-add", "SYS_ADMIN", "--cpus", "1.9"});
  EXPECT_EQ(said.status, 0) << said.text;
  EXPECT_THAT(said.text, AllOf(HasSubstr("refused with 4"), ContainsRegex("[Rr]ead-only"),
                               HasSubstr("line: mount -o remount,bind,rw /sys/fs/cgroup")));
  EXPECT_THAT(said.text, HasSubstr("start this container with --privileged"));
  ASSERT_TRUE(said.run.is_object()) << said.text;
  EXPECT_EQ(said.run["validity"]["status"], "trusted") << said.text;
}

// Limits with the host's cgroup namespace, where the path of the container is known.
TEST_P(InsidePodman, TheHostsNamespaceNamesTheContainersPath) {
  if (!OnV1()) GTEST_SKIP() << "on cgroup v2 the host's namespace shows every level";
  ExpectTrusted(RunWritable(Measure("0.5"), {"--cgroupns", "host", "--cpus", "1.9"}), "/libpod-");
}

// A cgroup of the test's own above a container, limited to 0.3 CPUs.
class Above {
 public:
  Above() {
    const internal::PlaceAnswer answer = internal::FindCgroupPlace(internal::CgroupNeeds{});
    if (!answer.place) throw Error(answer.code, answer.lack);
    location_ = internal::ChildLocation(answer.place->parent, internal::UniqueName());
    internal::MakeCgroup(location_);
    ResolvedLimits limits;
    limits.cpu.quota = std::chrono::milliseconds(30);
    internal::WriteLimits(location_, limits);
  }
  Above(const Above&) = delete;
  Above& operator=(const Above&) = delete;
  ~Above() {
    internal::RemoveCgroup(location_);
    // Engines make it in the other hierarchies as well.
    std::error_code ec;
    for (const auto& hierarchy : std::filesystem::directory_iterator("/sys/fs/cgroup", ec)) {
      internal::RemoveCgroup(hierarchy.path().string() + path());
    }
  }
  std::string path() const { return location_.cpu->relative_path; }

 private:
  CgroupLocation location_;
};

TEST_P(InsidePodman, AnUnseenLimitThatHeldItMakesTheRunInconclusive) {
  if (Engine().info.cgroup_driver != "cgroupfs") {
    GTEST_SKIP() << "only the cgroupfs driver takes a cgroup that is not a slice";
  }
  const Above above;
  const Said said =
      RunWritable(Measure("0.3"), {"--cgroupns", "private", "--cgroup-parent", above.path()});
  const nlohmann::json& run = said.run;
  ASSERT_TRUE(run.is_object()) << said.text;
  if (run["cpu"]["held_by_unseen_ns"].is_null()) GTEST_SKIP() << "kernel older than 6.6";
  EXPECT_EQ(said.status, 3) << said.text;
  EXPECT_GT(run["cpu"]["held_by_unseen_ns"], 1'000'000);
  EXPECT_THAT(run["validity"]["reasons"].dump(),
              AllOf(HasSubstr("unseen_limit"), HasSubstr("cannot be seen from here"),
                    Not(HasSubstr("throttled in"))));
}

}  // namespace
}  // namespace throttletest::test
