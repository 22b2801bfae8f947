#include "service/host_turn.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <memory>
#include <optional>
#include <thread>

#include "service/file_lock.h"
#include "support/temp_tree.h"
#include "throttletest/base/error.h"
#include "throttletest/service/host_lock.h"

namespace throttletest::internal {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;

// Another FileLock of this process stands for another process: flock(2) makes no difference.
class HostTurnTest : public ::testing::Test {
 protected:
  HostTurnTest() { SetHostLock({.path = path_, .patience = std::chrono::nanoseconds(0)}); }
  ~HostTurnTest() override { SetHostLock(HostLockFromEnvironment()); }

  bool IsFree() const { return FileLock(path_).Try(); }

  // What a turn says instead of beginning. Empty: it began.
  static std::string Refusal(ErrorCode* code = nullptr, const std::stop_token& stop = {}) {
    try {
      const HostTurn turn(stop);
      return {};
    } catch (const Error& e) {
      if (code != nullptr) *code = e.code();
      return e.what();
    }
  }

  testing_support::TempTree tree_;
  const std::string path_ = tree_.Path("lock");
};

TEST_F(HostTurnTest, KeepsOthersOutForAsLongAsOneOfThisProcessGoesOn) {
  std::optional<HostTurn> outer(std::in_place, std::stop_token());
  EXPECT_EQ(outer->note(), "");
  {
    const HostTurn inner{std::stop_token()};
    EXPECT_FALSE(IsFree());
  }
  EXPECT_FALSE(IsFree());
  std::thread([&] { EXPECT_EQ(Refusal(), ""); }).join();
  EXPECT_FALSE(IsFree());
  outer.reset();
  EXPECT_TRUE(IsFree());
}

TEST_F(HostTurnTest, NamesTheHolderWhenPatienceIsOver) {
  FileLock other(path_);
  ASSERT_TRUE(other.Try());
  ErrorCode code{};
  EXPECT_THAT(Refusal(&code), AllOf(HasSubstr("process " + std::to_string(::getpid()) + " ("),
                                    HasSubstr(path_), HasSubstr("THROTTLETEST_LOCK=off")));
  EXPECT_EQ(code, ErrorCode::kUnsupported);
}

TEST_F(HostTurnTest, ComesBehindThoseWhoWaitedBefore) {
  FileLock who_waits(path_ + ".next");
  ASSERT_TRUE(who_waits.Try());
  EXPECT_THAT(Refusal(), HasSubstr("waited"));
}

TEST_F(HostTurnTest, AFailedWaitHoldsNothing) {
  std::optional<FileLock> other(path_);
  ASSERT_TRUE(other->Try());
  EXPECT_NE(Refusal(), "");
  other.reset();
  EXPECT_TRUE(FileLock(path_ + ".next").Try());
  EXPECT_EQ(Refusal(), "");
}

TEST_F(HostTurnTest, AStopRequestEndsTheWait) {
  SetHostLock({.path = path_});
  FileLock other(path_);
  ASSERT_TRUE(other.Try());
  std::stop_source stop;
  stop.request_stop();
  ErrorCode code{};
  EXPECT_THAT(Refusal(&code, stop.get_token()), HasSubstr("stopped while waiting"));
  EXPECT_EQ(code, ErrorCode::kInterrupted);
}

TEST_F(HostTurnTest, WithoutAPathKeepsNobodyOutAndHasNoNote) {
  SetHostLock({.path = ""});
  EXPECT_EQ(HostTurn(std::stop_token()).note(), "");
  EXPECT_FALSE(tree_.Exists("lock"));
}

TEST_F(HostTurnTest, AFileThatCannotBeUsedIsANoteUnlessItIsRequired) {
  const std::string nowhere = tree_.Path("no/folder/lock");
  SetHostLock({.path = nowhere});
  EXPECT_THAT(HostTurn(std::stop_token()).note(),
              AllOf(HasSubstr("not locked against other measurements"), HasSubstr(nowhere)));
  SetHostLock({.path = nowhere, .required = true});
  EXPECT_THAT(Refusal(), AllOf(HasSubstr("cannot use the lock file"), HasSubstr(nowhere)));
}

TEST_F(HostTurnTest, AForkedChildDoesNotTakeItsParentsTurnForItsOwn) {
  const HostTurn turn{std::stop_token()};
  const pid_t child = ::fork();
  if (child == 0) ::_exit(Refusal().empty() ? 1 : 0);
  int status = -1;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0) << "the child measured beside its parent";
  EXPECT_FALSE(IsFree());
}

class LockEnvironment : public ::testing::Test {
 protected:
  static HostLockOptions With(const char* value) {
    ::setenv("THROTTLETEST_LOCK", value, 1);
    const auto forget = [](const char* name) { ::unsetenv(name); };
    const std::unique_ptr<const char, decltype(forget)> unset("THROTTLETEST_LOCK", forget);
    return HostLockFromEnvironment();
  }
};

TEST_F(LockEnvironment, SaysWhichFile) {
  EXPECT_THAT(With("").path, EndsWith("/throttletest.lock"));
  EXPECT_FALSE(With("").required);
  EXPECT_EQ(With("off").path, "");
  EXPECT_EQ(With("/a/b").path, "/a/b");
  EXPECT_TRUE(With("/a/b").required) << "an explicit wish is not passed over";
}

TEST_F(LockEnvironment, QuotesWhatItDoesNotUnderstand) {
  try {
    With("yes");
    FAIL() << "it was taken";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::kInvalidArgument);
    EXPECT_THAT(e.what(), HasSubstr("THROTTLETEST_LOCK=\"yes\""));
  }
}

}  // namespace
}  // namespace throttletest::internal
