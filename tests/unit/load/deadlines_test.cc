#include "load/deadlines.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace throttletest::internal {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;

TEST(RequestDeadlines, ComeFromTheTimeoutOfTheirKind) {
  Deadlines deadlines({Get("/a").Timeout(2s), Get("/b").Timeout(500ms)});
  EXPECT_EQ(deadlines.Next(), kNever);
  deadlines.Add(0, 0, 0);
  deadlines.Add(1, 1'000'000'000, 1);
  EXPECT_EQ(deadlines.Next(), 1'500'000'000);
  std::vector<std::int64_t> expired;
  const auto expire = [&](std::int64_t request) { expired.push_back(request); };
  const auto never_done = [](std::int64_t) { return false; };
  deadlines.ExpireUntil(1'499'999'999, never_done, expire);
  EXPECT_THAT(expired, ElementsAre());
  deadlines.ExpireUntil(2'000'000'000, never_done, expire);
  EXPECT_THAT(expired, testing::UnorderedElementsAre(0, 1));
  EXPECT_EQ(deadlines.Next(), kNever);
}

// Or each answered request would be kept, and woken up for, until its timeout.
TEST(RequestDeadlines, OfRequestsThatAreDoneAreForgotten) {
  Deadlines deadlines({Get("/").Timeout(10s)});
  for (std::int64_t i = 0; i < 3; ++i) deadlines.Add(i, i, 0);
  const std::set<std::int64_t> done = {0, 1};
  deadlines.ExpireUntil(
      5, [&](std::int64_t request) { return done.contains(request); },
      [](std::int64_t request) { ADD_FAILURE() << request; });
  EXPECT_EQ(deadlines.Next(), 10'000'000'002);
}

TEST(RequestDeadlines, DoNotOverflow) {
  const Deadlines deadlines({Get("/").Timeout(std::chrono::nanoseconds::max())});
  EXPECT_EQ(deadlines.Of(1, 0), kNever);
}

}  // namespace
}  // namespace throttletest::internal
