#include "service/image_tar.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <filesystem>

#include "base/unique_fd.h"
#include "service/image_build.h"
#include "service/subprocess.h"
#include "support/temp_tree.h"
#include "throttletest/base/error.h"

namespace throttletest::internal {
namespace {

using ::testing::HasSubstr;
using testing_support::TempTree;

class ImageTar : public ::testing::Test {
 protected:
  ImageTar() : file_(::open(tree_.Path("a.tar").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600)) {}

  // What tar(1), an independent reader, does with the archive.
  CommandResult Tar(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "tar");
    ::lseek(file_.get(), 0, SEEK_SET);
    return RunCommand(arguments, {.stdin_fd = file_.get()});
  }
  void Extract() {
    tree_.Mkdir("x");
    const CommandResult result = Tar({"-x", "-p", "-C", tree_.Path("x")});
    ASSERT_TRUE(result.ok()) << result.Describe();
  }

  TempTree tree_;
  UniqueFd file_;
};

TEST_F(ImageTar, FilesFoldersAndLinksAreReadByTar) {
  tree_.Write("source", std::string(1000, 'y'));
  TarWriter tar(file_.get());
  tar.AddFolder("/tmp", 01777);
  tar.AddText("/etc/passwd", "root:x:0:0::/:\n", 0644);
  tar.AddFileFrom("/opt/app/bin/run", tree_.Path("source"), 0755);
  tar.AddLink("/lib64/ld.so", "/usr/lib/ld.so");
  tar.Finish();
  const CommandResult list = Tar({"-t", "-v", "--numeric-owner"});
  EXPECT_TRUE(list.ok()) << list.Describe();
  EXPECT_THAT(list.out, HasSubstr("drwxrwxrwt 0/0"));
  EXPECT_THAT(list.out, HasSubstr("lib64/ld.so -> /usr/lib/ld.so"));
  EXPECT_THAT(list.out,
              HasSubstr("-rwxr-xr-x 0/0            1000 1970-01-01 00:00 opt/app/bin/run"));
  Extract();
  EXPECT_EQ(tree_.Read("x/opt/app/bin/run"), std::string(1000, 'y'));
  EXPECT_EQ(tree_.Read("x/etc/passwd"), "root:x:0:0::/:\n");
}

TEST_F(ImageTar, EveryFolderIsWrittenOnceAndBeforeItsContent) {
  TarWriter tar(file_.get());
  tar.AddText("/a/b/one", "1", 0644);
  tar.AddText("/a/b/two", "2", 0644);
  tar.Finish();
  EXPECT_EQ(Tar({"-t"}).out, "a/\na/b/\na/b/one\na/b/two\n");
}

TEST_F(ImageTar, LongNamesAndTargetsSurvive) {
  const std::string folder = std::string("/").append(90, 'd').append("/").append(90, 'e');
  TarWriter tar(file_.get());
  tar.AddText(folder + "/file", "content", 0644);
  tar.AddLink("/link", folder + "/file");
  tar.Finish();
  Extract();
  EXPECT_EQ(tree_.Read(std::string("x").append(folder).append("/file")), "content");
  EXPECT_EQ(std::filesystem::read_symlink(tree_.Path("x/link")), folder + "/file");
}

TEST_F(ImageTar, SizesAroundABlockArePadded) {
  TarWriter tar(file_.get());
  for (const std::size_t size :
       {std::size_t{0}, std::size_t{511}, std::size_t{512}, std::size_t{513}}) {
    tar.AddText("/f" + std::to_string(size), std::string(size, 'z'), 0644);
  }
  tar.Finish();
  Extract();
  for (const std::size_t size :
       {std::size_t{0}, std::size_t{511}, std::size_t{512}, std::size_t{513}}) {
    EXPECT_EQ(tree_.Read("x/f" + std::to_string(size)).size(), size);
  }
  EXPECT_EQ(::lseek(file_.get(), 0, SEEK_END) % 512, 0);
}

TEST_F(ImageTar, ASourceThatIsNotAFileIsNamed) {
  TarWriter tar(file_.get());
  try {
    tar.AddFileFrom("/x", tree_.root(), 0755);
    FAIL();
  } catch (const Error& e) {
    EXPECT_THAT(e.what(), HasSubstr(tree_.root()));
    EXPECT_THAT(e.what(), HasSubstr("not a regular file"));
  }
}

TEST_F(ImageTar, AProgramsArchiveHoldsWhatItNeeds) {
  const std::string self = std::filesystem::canonical("/proc/self/exe").string();
  file_ = BuildProgramArchive(self, {});
  const std::string list = Tar({"-t"}).out;
  for (const char* name : {"tmp/\n", "etc/passwd\n", "etc/nsswitch.conf\n", "libc.so.6\n"}) {
    EXPECT_THAT(list, HasSubstr(name));
  }
  EXPECT_THAT(list, HasSubstr(self.substr(1) + "\n"));
}

TEST_F(ImageTar, TheSameFilesMakeTheSameArchive) {
  const auto sum = [](const UniqueFd& archive) {
    return RunCommand({"sha256sum"}, {.stdin_fd = archive.get()}).out;
  };
  EXPECT_EQ(sum(BuildProgramArchive("/proc/self/exe", {})),
            sum(BuildProgramArchive("/proc/self/exe", {})));
}

}  // namespace
}  // namespace throttletest::internal
