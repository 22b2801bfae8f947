#include "load/poller.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <functional>
#include <string>
#include <thread>

namespace throttletest::internal {
namespace {

using namespace std::chrono_literals;
using std::chrono::steady_clock;
using testing::ElementsAre;

// A handler that is a function, and two ends of a connection.
struct Line : ReadyHandler {
  explicit Line(Poller& watching) : poller(watching) {
    int fds[2];
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds), 0);
    near.Reset(fds[0]);
    far.Reset(fds[1]);
    EXPECT_EQ(poller.Watch(near.get(), EPOLLIN | EPOLLRDHUP, *this), 0);
  }
  ~Line() override { poller.Forget(near.get(), *this); }
  void OnReady(std::uint32_t events) override {
    ++calls;
    if (then) then(events);
  }
  void Ring() const { EXPECT_EQ(::send(far.get(), "x", 1, MSG_NOSIGNAL), 1); }

  Poller& poller;
  UniqueFd near;
  UniqueFd far;
  int calls = 0;
  std::function<void(std::uint32_t)> then = {};
};

int CallAll(Poller& poller) {
  int calls = 0;
  while (poller.PollOne()) ++calls;
  return calls;
}

TEST(Poller, CallsOneReadyHandlerATime) {
  Poller poller;
  Line one(poller);
  Line two(poller);
  one.Ring();
  two.Ring();
  EXPECT_TRUE(poller.RunOne(Poller::kForever));
  EXPECT_EQ(one.calls + two.calls, 1);
  EXPECT_TRUE(poller.RunOne(Poller::kForever));
  EXPECT_EQ(one.calls, 1);
  EXPECT_EQ(two.calls, 1);
}

TEST(Poller, ReportsBytesOnceWhetherTheyAreReadOrNot) {
  Poller poller;
  Line line(poller);
  line.Ring();
  EXPECT_EQ(CallAll(poller), 1);
  EXPECT_EQ(CallAll(poller), 0);
  line.Ring();
  EXPECT_EQ(CallAll(poller), 1);
}

TEST(Poller, ChangeReportsWhatHoldsAlready) {
  Poller poller;
  Line line(poller);
  std::uint32_t seen = 0;
  line.then = [&](std::uint32_t events) { seen = events; };
  poller.Change(line.near.get(), EPOLLIN | EPOLLOUT, line);
  EXPECT_EQ(CallAll(poller), 1);
  EXPECT_EQ(seen, std::uint32_t{EPOLLOUT});
}

TEST(Poller, WatchSaysWhyItCannot) {
  Poller poller;
  Line line(poller);
  EXPECT_EQ(poller.Watch(-1, EPOLLIN, line), EBADF);
  EXPECT_EQ(poller.Watch(line.near.get(), EPOLLIN, line), EEXIST);
}

TEST(Poller, AHandlerThatIsForgottenIsNotCalledForWhatWasReported) {
  Poller poller;
  Line one(poller);
  auto two = std::make_unique<Line>(poller);
  one.Ring();
  two->Ring();
  poller.Again(*two, 0);
  poller.AgainAt(steady_clock::now(), *two);
  one.then = [&](std::uint32_t) { two.reset(); };
  EXPECT_EQ(CallAll(poller), 1);
  EXPECT_EQ(one.calls, 1);
}

TEST(Poller, AHandlerMayDestroyItself) {
  Poller poller;
  auto line = std::make_unique<Line>(poller);
  line->Ring();
  line->then = [&](std::uint32_t) {
    const auto keep = std::move(line->then);
    line.reset();
  };
  EXPECT_EQ(CallAll(poller), 1);
  EXPECT_EQ(line, nullptr);
}

TEST(Poller, AgainComesAfterTheOthersAndKeepsItsEvents) {
  Poller poller;
  Line one(poller);
  Line two(poller);
  std::string order;
  one.then = [&](std::uint32_t events) {
    order += events == EPOLLHUP ? "again " : "one ";
    if (events != EPOLLHUP) poller.Again(one, EPOLLHUP);
  };
  two.then = [&](std::uint32_t) { order += "two "; };
  one.Ring();
  two.Ring();
  EXPECT_EQ(CallAll(poller), 3);
  EXPECT_EQ(order, "one two again ");
}

TEST(Poller, AHandlerThatAlwaysAsksAgainDoesNotKeepOthersOut) {
  Poller poller;
  Line busy(poller);
  Line other(poller);
  busy.then = [&](std::uint32_t) { poller.Again(busy, 0); };
  busy.Ring();
  EXPECT_TRUE(poller.PollOne());
  other.Ring();
  for (int i = 0; i < 4; ++i) poller.PollOne();
  EXPECT_EQ(other.calls, 1);
}

TEST(Poller, WaitsUntilTheInstantAndNotLonger) {
  Poller poller;
  for (int i = 0; i < 3; ++i) {
    const auto until = steady_clock::now() + 20ms;
    while (steady_clock::now() < until) EXPECT_FALSE(poller.RunOne(until));
    EXPECT_LT(steady_clock::now(), until + 5s);
  }
}

TEST(Poller, TellsTheInstantEvenWhenThereIsAlwaysSomethingToCall) {
  Poller poller;
  Line busy(poller);
  busy.then = [&](std::uint32_t) { poller.Again(busy, 0); };
  busy.Ring();
  for (int i = 0; i < 3; ++i) {
    const auto until = steady_clock::now() + 20ms;
    while (poller.RunOne(until)) ASSERT_LT(steady_clock::now(), until + 5s);
    EXPECT_GE(steady_clock::now(), until);
  }
}

TEST(Poller, AnInstantThatIsPastIsNotWaitedFor) {
  Poller poller;
  EXPECT_FALSE(poller.RunOne(steady_clock::now() - 1h));
  EXPECT_FALSE(poller.RunOne(Poller::Time()));
  EXPECT_FALSE(poller.RunOne(Poller::Time::min()));
}

TEST(Poller, TheInstantMayMoveForwardAndBack) {
  Poller poller;
  const auto begin = steady_clock::now();
  const auto wait_until = [&](Poller::Time until) {
    while (steady_clock::now() < until) poller.RunOne(until);
  };
  std::thread waker([&] {
    std::this_thread::sleep_for(20ms);
    poller.Wake();
  });
  poller.RunOne(begin + 1h);
  waker.join();
  wait_until(begin + 60ms);
  wait_until(begin + 80ms);
  EXPECT_LT(steady_clock::now(), begin + 5s);
}

TEST(Poller, AgainAtCallsWhenTheTimeHasComeInOrder) {
  Poller poller;
  Line one(poller);
  Line two(poller);
  std::string order;
  one.then = [&](std::uint32_t) { order += "one "; };
  two.then = [&](std::uint32_t events) { order += events == 0 ? "two " : "? "; };
  const auto begin = steady_clock::now();
  poller.AgainAt(begin + 40ms, one);
  poller.AgainAt(begin + 20ms, two);
  while (order.size() < 8 && steady_clock::now() < begin + 5s) poller.RunOne(Poller::kForever);
  EXPECT_EQ(order, "two one ");
  EXPECT_GE(steady_clock::now(), begin + 40ms);
}

TEST(Poller, AWakeUpBeforeTheWaitIsNotLost) {
  Poller poller;
  poller.Wake();
  EXPECT_FALSE(poller.RunOne(Poller::kForever));
}

TEST(Poller, TasksOfOtherThreadsRunHereInOrder) {
  Poller poller;
  std::vector<int> order;
  const auto here = std::this_thread::get_id();
  std::thread other([&] {
    for (int i = 0; i < 3; ++i) {
      poller.Post([&, i] {
        EXPECT_EQ(std::this_thread::get_id(), here);
        order.push_back(i);
      });
    }
  });
  while (order.size() < 3) poller.RunOne(Poller::kForever);
  other.join();
  EXPECT_THAT(order, ElementsAre(0, 1, 2));
}

TEST(Poller, ATaskMayPostAnother) {
  Poller poller;
  int runs = 0;
  poller.Post([&] {
    ++runs;
    poller.Post([&] { ++runs; });
  });
  EXPECT_EQ(CallAll(poller), 2);
  EXPECT_EQ(runs, 2);
}

TEST(Poller, MoreReadyHandlersThanOneRoundTakes) {
  Poller poller;
  std::vector<std::unique_ptr<Line>> lines;
  for (int i = 0; i < 300; ++i) lines.push_back(std::make_unique<Line>(poller));
  for (const auto& line : lines) line->Ring();
  EXPECT_EQ(CallAll(poller), 300);
  for (const auto& line : lines) EXPECT_EQ(line->calls, 1);
}

}  // namespace
}  // namespace throttletest::internal
