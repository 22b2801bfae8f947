#include "base/read_file.h"

#include <gtest/gtest.h>

#include "support/temp_tree.h"

namespace throttletest::internal {
namespace {

TEST(ReadWholeFile, IsEmptyForAnEmptyFile) {
  const testing_support::TempTree tree;
  const std::string long_text(10'000, 'x');
  tree.Write("empty", "");
  tree.Write("long", long_text);
  EXPECT_EQ(ReadWholeFile(tree.Path("empty")), "");
  EXPECT_EQ(ReadWholeFile(tree.Path("long")), long_text);
}

// Files of /proc whose process ends meanwhile open as well, and a stream's buffer throws there.
TEST(ReadWholeFile, IsAbsentForWhatOpensAndCannotBeRead) {
  const testing_support::TempTree tree;
  EXPECT_EQ(ReadWholeFile(tree.root()), std::nullopt);
  EXPECT_EQ(ReadWholeFile(tree.Path("nothing")), std::nullopt);
}

}  // namespace
}  // namespace throttletest::internal
