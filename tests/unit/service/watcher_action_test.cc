#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "service/watcher_process.h"

namespace throttletest::internal {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// What a reader makes of a text: "D dir" and "C word|word".
std::vector<std::string> ReadBackText(const std::string& text) {
  std::vector<std::string> records;
  ActionReader reader(text.data(), text.size());
  while (reader.Next()) {
    if (reader.directory() != nullptr) {
      records.push_back(std::string("D ") + reader.directory());
      continue;
    }
    std::string words = "C ";
    for (const char* const* word = reader.command(); *word != nullptr; ++word) {
      words += std::string(word == reader.command() ? "" : "|") + *word;
    }
    records.push_back(words);
  }
  return records;
}

TEST(WatcherAction, RoundTrips) {
  const CleanupAction action{.cgroup_dirs = {"/sys/fs/cgroup/cpu/x", "/sys/fs/cgroup/memory/x"},
                             .commands = {{"/usr/bin/docker", "rm", "-f", "x"}, {"/bin/true"}}};
  EXPECT_THAT(ReadBackText(EncodeAction(action)),
              ElementsAre("D /sys/fs/cgroup/cpu/x", "D /sys/fs/cgroup/memory/x",
                          "C /usr/bin/docker|/usr/bin/docker|rm|-f|x", "C /bin/true|/bin/true"));
}

TEST(WatcherAction, KeepsEmptyArguments) {
  EXPECT_THAT(ReadBackText(EncodeAction({.commands = {{"/bin/x", "", "b"}}})),
              ElementsAre("C /bin/x|/bin/x||b"));
}

TEST(WatcherAction, NothingIsNothing) {
  EXPECT_EQ(EncodeAction({}), "");
  EXPECT_THAT(ReadBackText(""), IsEmpty());
}

TEST(WatcherAction, StopsAtMalformedText) {
  using std::string_literals::operator""s;
  EXPECT_THAT(ReadBackText("D"), IsEmpty());
  EXPECT_THAT(ReadBackText("D\0"s), IsEmpty());
  EXPECT_THAT(ReadBackText("D\0/a\0Q\0/b\0"s), ElementsAre("D /a"));
  EXPECT_THAT(ReadBackText("C\0003\0/bin/x\0"s), IsEmpty()) << "words are missing";
  EXPECT_THAT(ReadBackText("C\0009999999\0a\0b\0"s), IsEmpty()) << "more words than fit";
  EXPECT_THAT(ReadBackText("C\0001\0a\0"s), IsEmpty()) << "a program without argument 0";
}

}  // namespace
}  // namespace throttletest::internal
