#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>

#include "throttletest/base/error.h"
#include "throttletest/report/json.h"

namespace throttletest {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class WriteFileTest : public testing::Test {
 protected:
  WriteFileTest() {
    std::string name = (fs::temp_directory_path() / "throttletest-write-XXXXXX").string();
    dir_ = ::mkdtemp(name.data());
  }
  ~WriteFileTest() override { fs::remove_all(dir_); }
  std::string Path(const std::string& name) const { return (dir_ / name).string(); }
  static std::string Read(const std::string& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  std::size_t FileCount() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(dir_), {}));
  }
  // What both functions refuse with.
  static std::string Refusal(const std::string& path) {
    std::string checked = "accepted";
    std::string written = "accepted";
    try {
      CheckWritable(path);
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), ErrorCode::kInvalidArgument);
      checked = e.what();
    }
    try {
      WriteFile(path, "x");
    } catch (const Error& e) {
      written = e.what();
    }
    EXPECT_EQ(checked, written);
    return checked;
  }
  fs::path dir_;
};

TEST_F(WriteFileTest, WritesTheWholeTextAndLeavesNothingElse) {
  const std::string text(1 << 20, 'x');
  WriteFile(Path("out.json"), text);
  EXPECT_EQ(Read(Path("out.json")), text);
  EXPECT_EQ(FileCount(), 1U);
}

TEST_F(WriteFileTest, ReplacesAnEarlierFileAndKeepsItsMode) {
  std::ofstream(Path("out.json")) << "a longer earlier text";
  ASSERT_EQ(::chmod(Path("out.json").c_str(), 0640), 0);
  WriteFile(Path("out.json"), "new");
  EXPECT_EQ(Read(Path("out.json")), "new");
  EXPECT_EQ(fs::status(Path("out.json")).permissions(), fs::perms(0640));
}

TEST_F(WriteFileTest, WritesThroughASymbolicLink) {
  std::ofstream(Path("real.json")) << "old";
  fs::create_symlink("real.json", Path("link.json"));
  WriteFile(Path("link.json"), "new");
  EXPECT_TRUE(fs::is_symlink(Path("link.json")));
  EXPECT_EQ(Read(Path("real.json")), "new");
}

TEST_F(WriteFileTest, WritesThroughALinkWhoseFileIsNotThereYet) {
  fs::create_symlink("real.json", Path("second.json"));
  fs::create_symlink("second.json", Path("first.json"));
  WriteFile(Path("first.json"), "new");
  EXPECT_TRUE(fs::is_symlink(Path("first.json")));
  EXPECT_TRUE(fs::is_symlink(Path("second.json")));
  EXPECT_EQ(Read(Path("real.json")), "new");
}

TEST_F(WriteFileTest, RefusesALinkThatLeadsNowhere) {
  fs::create_symlink(Path("no/such/folder.json"), Path("out.json"));
  EXPECT_THAT(Refusal(Path("out.json")), HasSubstr("does not exist"));
  fs::create_symlink("b.json", Path("a.json"));
  fs::create_symlink("a.json", Path("b.json"));
  EXPECT_THAT(Refusal(Path("a.json")), HasSubstr("leads back to itself"));
}

TEST_F(WriteFileTest, DoesNotWaitForAReaderOfAPipe) {
  ASSERT_EQ(::mkfifo(Path("pipe").c_str(), 0600), 0);
  CheckWritable(Path("pipe"));
  try {
    WriteFile(Path("pipe"), "x");
    FAIL();
  } catch (const Error& e) {
    EXPECT_THAT(e.what(), HasSubstr("nobody reads this pipe"));
  }
}

TEST_F(WriteFileTest, WritesToADeviceInsteadOfReplacingIt) {
  WriteFile("/dev/null", "x");
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
}

TEST_F(WriteFileTest, CheckingWritesNothing) {
  CheckWritable(Path("out.json"));
  EXPECT_EQ(FileCount(), 0U);
}

TEST_F(WriteFileTest, RefusesADirectoryThatDoesNotExist) {
  EXPECT_EQ(Refusal(Path("missing/out.json")), "cannot write \"" + Path("missing/out.json") +
                                                   "\": directory \"" + Path("missing") +
                                                   "\" does not exist");
}

TEST_F(WriteFileTest, RefusesADirectoryAsAFile) {
  EXPECT_THAT(Refusal(dir_.string()), HasSubstr("it is a directory; name a file in it"));
  EXPECT_THAT(Refusal(Path("new/")), HasSubstr("it names a directory; name a file in it"));
}

TEST_F(WriteFileTest, RefusesAFileAsADirectory) {
  std::ofstream(Path("file")) << "x";
  EXPECT_THAT(Refusal(Path("file/out.json")), HasSubstr("file\" is not a directory"));
}

TEST_F(WriteFileTest, RefusesAnEmptyPath) {
  EXPECT_EQ(Refusal(""), "cannot write \"\": the path is empty");
}

// Root may write everywhere, so the child gives that up first.
[[noreturn]] void CheckAsNobody(const std::string& path) {
  if (::geteuid() == 0 && ::setuid(65534) != 0) ::_exit(2);
  try {
    CheckWritable(path);
  } catch (const Error& e) {
    std::cerr << e.what();
    ::_exit(1);
  }
  ::_exit(0);
}

TEST_F(WriteFileTest, RefusesWhatMayNotBeWritten) {
  std::ofstream(Path("file")) << "x";
  ASSERT_EQ(::chmod(Path("file").c_str(), 0444), 0);
  ASSERT_EQ(::chmod(dir_.c_str(), 0555), 0);
  EXPECT_EXIT(CheckAsNobody(Path("new")), testing::ExitedWithCode(1),
              "directory .*: Permission denied");
  EXPECT_EXIT(CheckAsNobody(Path("file")), testing::ExitedWithCode(1),
              "the file cannot be replaced: Permission denied");
  ASSERT_EQ(::chmod(dir_.c_str(), 0755), 0);
  EXPECT_EXIT(CheckAsNobody(Path("file")), testing::ExitedWithCode(1),
              "the file cannot be replaced: Permission denied");
}

}  // namespace
}  // namespace throttletest
