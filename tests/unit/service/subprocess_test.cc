#include "service/subprocess.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>

#include "base/unique_fd.h"
#include "support/temp_tree.h"
#include "throttletest/base/error.h"

namespace throttletest::internal {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using std::chrono::steady_clock;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(Subprocess, ArgumentsAreNeitherSplitNorExpanded) {
  const CommandResult result = RunCommand({"printf", "<%s>", "a b", "$HOME; *", ""});
  EXPECT_TRUE(result.ok());
  EXPECT_EQ(result.out, "<a b><$HOME; *><>");
}

TEST(Subprocess, StreamsAndStatusAreKeptApart) {
  const CommandResult result = RunCommand({"sh", "-c", "echo out; echo err >&2; exit 3"});
  EXPECT_FALSE(result.ok());
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_EQ(result.out, "out\n");
  EXPECT_EQ(result.err, "err\n");
  EXPECT_THAT(result.Describe(), EndsWith("failed with status 3: err"));
}

TEST(Subprocess, MergedStreamsKeepTheirOrder) {
  const CommandResult result =
      RunCommand({"sh", "-c", "echo 1; echo 2 >&2; echo 3"}, {.merge_streams = true});
  EXPECT_EQ(result.out, "1\n2\n3\n");
  EXPECT_EQ(result.err, "");
}

TEST(Subprocess, InputFromBytesIsRead) {
  const std::string bytes(200000, 'x');
  EXPECT_EQ(RunCommand({"cat"}, {.stdin_bytes = bytes}).out, bytes);
}

TEST(Subprocess, InputFromAFileIsReadFromItsOffset) {
  const testing_support::TempTree tree;
  tree.Write("in", "skip this");
  const UniqueFd file(::open(tree.Path("in").c_str(), O_RDONLY | O_CLOEXEC));
  ASSERT_EQ(::lseek(file.get(), 5, SEEK_SET), 5);
  EXPECT_EQ(RunCommand({"cat"}, {.stdin_fd = file.get()}).out, "this");
}

TEST(Subprocess, InputThatIsNotReadIsNoError) {
  EXPECT_TRUE(RunCommand({"true"}, {.stdin_bytes = std::string(1 << 20, 'x')}).ok());
}

TEST(Subprocess, WithoutInputTheCommandReadsNothing) { EXPECT_EQ(RunCommand({"cat"}).out, ""); }

TEST(Subprocess, C103TheDeadlineKillsTheCommandAndItsChildren) {
  const auto began = steady_clock::now();
  const CommandResult result =
      RunCommand({"sh", "-c", "echo began; sleep 100; echo end"}, {.deadline = milliseconds(200)});
  EXPECT_LT(steady_clock::now() - began, seconds(20));
  EXPECT_TRUE(result.timed_out);
  EXPECT_FALSE(result.ok());
  EXPECT_EQ(result.signal, SIGKILL);
  EXPECT_EQ(result.out, "began\n");
  EXPECT_THAT(result.Describe(), HasSubstr("did not end within 200 ms"));
}

TEST(Subprocess, AGrandchildThatHoldsTheStreamsDoesNotDelayTheResult) {
  const auto began = steady_clock::now();
  const CommandResult result = RunCommand({"sh", "-c", "sleep 60 & echo $!"});
  EXPECT_LT(steady_clock::now() - began, seconds(20));
  EXPECT_EQ(result.exit_code, 0);
  ::kill(std::stoi(result.out), SIGKILL);
}

TEST(Subprocess, ASignalIsToldFromAStatus) {
  const CommandResult result = RunCommand({"sh", "-c", "kill -TERM $$"});
  EXPECT_EQ(result.signal, SIGTERM);
  EXPECT_EQ(result.exit_code, std::nullopt);
  EXPECT_THAT(result.Describe(), HasSubstr("was killed by signal 15"));
}

TEST(Subprocess, OnlyTheEndOfALongOutputIsKept) {
  const CommandResult result =
      RunCommand({"sh", "-c", "yes 0123456 | head -c 400000; echo last"}, {.keep = 1000});
  EXPECT_EQ(result.out.size(), 1000U);
  EXPECT_THAT(result.out, EndsWith("last\n"));
}

TEST(Subprocess, TheEnvironmentIsOursWithChanges) {
  ASSERT_EQ(::setenv("SUBPROCESS_TEST_KEPT", "kept", 1), 0);
  ASSERT_EQ(::setenv("SUBPROCESS_TEST_GONE", "gone", 1), 0);
  const CommandResult result = RunCommand(
      {"env"}, {.env = {{"SUBPROCESS_TEST_ADDED", "a=b c"}}, .unset = {"SUBPROCESS_TEST_GONE"}});
  EXPECT_THAT(result.out, HasSubstr("SUBPROCESS_TEST_KEPT=kept\n"));
  EXPECT_THAT(result.out, HasSubstr("SUBPROCESS_TEST_ADDED=a=b c\n"));
  EXPECT_THAT(result.out, Not(HasSubstr("GONE")));
}

TEST(Subprocess, TheChildHasNoDescriptorsOfOurs) {
  int leak[2];
  ASSERT_EQ(::pipe(leak), 0);  // on purpose without O_CLOEXEC
  const CommandResult result = RunCommand({"ls", "/proc/self/fd"});
  EXPECT_EQ(result.out, "0\n1\n2\n3\n") << "3 is the folder that ls reads";
  ::close(leak[0]);
  ::close(leak[1]);
}

TEST(Subprocess, TheChildHasAProcessGroupOfItsOwn) {
  const CommandResult result = RunCommand({"sh", "-c", "ps -o pgid= -p $$ | tr -d ' '; echo $$"});
  const auto line = result.out.find('\n');
  EXPECT_EQ(result.out.substr(0, line) + "\n", result.out.substr(line + 1));
}

TEST(Subprocess, AMissingCommandIsNamed) {
  try {
    RunCommand({"no-such-engine"});
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::kServiceStart);
    EXPECT_THAT(e.what(), HasSubstr("no-such-engine"));
  }
}

TEST(Subprocess, LastLinesAreTheNonEmptyOnesInOrder) {
  EXPECT_EQ(LastLinesOnOne("a\n\nb\nc\n\n", 2), "b; c");
  EXPECT_EQ(LastLinesOnOne("", 2), "");
  EXPECT_EQ(LastLinesOnOne("only", 5), "only");
}

}  // namespace
}  // namespace throttletest::internal
