#include "service/file_lock.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <optional>

#include "support/temp_tree.h"

namespace throttletest::internal {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

std::string OpenError(const std::string& path) {
  try {
    FileLock lock(path);
    return {};
  } catch (const LockFileError& e) {
    EXPECT_EQ(e.code(), ErrorCode::kUnsupported);
    return e.what();
  }
}

TEST(FileLock, IsHeldByOneAndThenByTheOther) {
  const testing_support::TempTree tree;
  std::optional<FileLock> first(tree.Path("lock"));
  FileLock second(tree.Path("lock"));
  EXPECT_EQ(second.Holder(), std::nullopt);
  EXPECT_TRUE(first->Try());
  EXPECT_FALSE(second.Try());
  EXPECT_EQ(second.Holder(), ::getpid());
  first.reset();
  EXPECT_TRUE(second.Try());
}

TEST(FileLock, MakesAFileThatEverybodyMayRead) {
  const testing_support::TempTree tree;
  const mode_t before = ::umask(0077);
  const FileLock lock(tree.Path("lock"));
  ::umask(before);
  struct stat info {};
  ASSERT_EQ(::stat(tree.Path("lock").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0644U);
}

TEST(FileLock, TakesAFileThatMayOnlyBeRead) {
  const testing_support::TempTree tree;
  tree.Write("lock", "");
  ::chmod(tree.Path("lock").c_str(), 0444);
  EXPECT_TRUE(FileLock(tree.Path("lock")).Try());
}

TEST(FileLock, RefusesWhatIsNotAPlainFile) {
  const testing_support::TempTree tree;
  tree.Write("elsewhere", "");
  std::filesystem::create_symlink(tree.Path("elsewhere"), tree.Path("link"));
  EXPECT_THAT(OpenError(tree.Path("link")), AllOf(HasSubstr("/link"), HasSubstr("symbolic link")));
  ASSERT_EQ(::mkfifo(tree.Path("fifo").c_str(), 0644), 0);
  EXPECT_THAT(OpenError(tree.Path("fifo")), HasSubstr("not a plain file"));
  EXPECT_THAT(OpenError(tree.root()), HasSubstr("not a plain file"));
  EXPECT_THAT(OpenError(tree.Path("no/folder")), HasSubstr("No such file"));
}

TEST(FileLock, OfARemovedFileLocksTheOneThatIsThereNow) {
  const testing_support::TempTree tree;
  FileLock early(tree.Path("lock"));
  tree.Remove("lock");
  FileLock late(tree.Path("lock"));
  ASSERT_TRUE(late.Try());
  EXPECT_FALSE(early.Try()) << "the removed file can be locked, but nobody else looks at it";
  EXPECT_FALSE(early.Try());
}

TEST(FileLock, AForkedChildNeitherUnlocksNorKeepsIt) {
  const testing_support::TempTree tree;
  std::optional<FileLock> ours(tree.Path("lock"));
  ASSERT_TRUE(ours->Try());
  const pid_t ends = ::fork();
  if (ends == 0) {
    ours.reset();
    ::_exit(0);
  }
  ::waitpid(ends, nullptr, 0);
  FileLock other(tree.Path("lock"));
  EXPECT_FALSE(other.Try()) << "the child unlocked it";
  const pid_t stays = ::fork();
  if (stays == 0) {
    while (true) ::pause();
  }
  ours.reset();
  EXPECT_TRUE(other.Try()) << "the child, which has the same open file, keeps it";
  ::kill(stays, SIGKILL);
  ::waitpid(stays, nullptr, 0);
}

TEST(FileLock, FindsTheHolderAmongOtherLocks) {
  const dev_t device = makedev(0xfe, 1);
  const char* locks =
      "1: POSIX  ADVISORY  WRITE 11 fe:01:5678 0 EOF\n"
      "2: FLOCK  ADVISORY  WRITE 22 fe:01:56789 0 EOF\n"
      "3: FLOCK  ADVISORY  WRITE 33 fe:00:5678 0 EOF\n"
      "4: FLOCK  ADVISORY  WRITE 44 fe:01:5678 0 EOF\n"
      "4: -> FLOCK  ADVISORY  WRITE 55 fe:01:5678 0 EOF\n";
  EXPECT_EQ(ParseLockHolder(locks, device, 5678), 44);
  EXPECT_EQ(ParseLockHolder("4: -> FLOCK ADVISORY WRITE 55 fe:01:5678 0 EOF\n", device, 5678),
            std::nullopt);
  EXPECT_EQ(ParseLockHolder("4: FLOCK ADVISORY WRITE 0 fe:01:5678 0 EOF\n", device, 5678),
            std::nullopt)
      << "of another PID namespace";
  EXPECT_EQ(ParseLockHolder("4: FLOCK\nnonsense\n", device, 5678), std::nullopt);
  EXPECT_EQ(ParseLockHolder("", device, 5678), std::nullopt);
}

}  // namespace
}  // namespace throttletest::internal
