#include "service/wait_ready.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <vector>

#include "throttletest/base/error.h"

namespace throttletest::internal {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using std::chrono::seconds;
using std::chrono::steady_clock;
using ::testing::AllOf;
using ::testing::HasSubstr;

// A service of scripted answers on a clock that only sleeping moves.
class Script {
 public:
  explicit Script(std::vector<std::string> answers) : answers_(std::move(answers)) {}

  Readiness Check() {
    return Readiness("it answers", [this](const ReadinessTarget& target) {
      patience.push_back(target.patience);
      const std::size_t i = tries++;
      return i < answers_.size() ? answers_[i] : answers_.back();
    });
  }
  ReadyWatch Watch() {
    return {.ended = [this] { return tries >= ends_after ? end : std::string(); },
            .stranger = [this] { return stranger; },
            .now = [this] { return steady_clock::time_point(now); },
            .sleep = [this](nanoseconds time, std::stop_token) { now += time; }};
  }
  std::string Wait(const Readiness& ready, const std::stop_token& stop = {}) {
    try {
      WaitReady("toy", ready, {.logs = [] { return std::string("one\ntwo\n"); }}, Watch(), stop);
      return {};
    } catch (const Error& error) {
      return std::string(ErrorCodeName(error.code())) + ": " + error.what();
    }
  }

  std::size_t tries = 0;
  std::size_t ends_after = 1000000;
  std::string end;
  std::string stranger;
  nanoseconds now{0};
  std::vector<nanoseconds> patience;

 private:
  std::vector<std::string> answers_;
};

TEST(WaitReady, ReturnsAtTheFirstSuccess) {
  Script script({"refused", "refused", ""});
  EXPECT_EQ(script.Wait(script.Check()), "");
  EXPECT_EQ(script.tries, 3U);
  EXPECT_EQ(script.now, milliseconds(100)) << "two waits of 50 ms";
}

TEST(WaitReady, TimesOutWithCheckAnswerTimeAndLog) {
  Script script({"connection refused"});
  const std::string text = script.Wait(script.Check().Within(seconds(2)));
  EXPECT_THAT(text, AllOf(HasSubstr("not_ready: service \"toy\": not ready within 2 s"),
                          HasSubstr("waited 2000.0 ms for: it answers"),
                          HasSubstr("last answer: connection refused"), HasSubstr("  one\n  two")));
}

TEST(WaitReady, FailsFastWhenTheServiceEnds) {
  Script script({"connection refused"});
  script.ends_after = 2;
  script.end = "exited with status 3";
  const std::string text = script.Wait(script.Check());
  EXPECT_THAT(text, HasSubstr("exited with status 3 before it was ready"));
  EXPECT_EQ(script.tries, 2U);
}

TEST(WaitReady, AServiceThatEndsWithItsAnswerIsNotReady) {
  Script script({""});
  script.ends_after = 1;
  script.end = "exited with status 0";
  EXPECT_THAT(script.Wait(script.Check()), HasSubstr("exited with status 0 before"));
}

TEST(WaitReady, C110StableStartsAgainAtAFailure) {
  Script script({"", "", "closed", "", "", ""});
  EXPECT_EQ(script.Wait(script.Check().Stable(3)), "");
  EXPECT_EQ(script.tries, 6U);
}

TEST(WaitReady, C115AStrangerIsNeverAsked) {
  Script script({""});
  script.stranger = "process 7 (nginx)";
  try {
    WaitReady("toy", script.Check(), {}, script.Watch(), {});
    FAIL() << "a stranger was taken for the service";
  } catch (const PortTaken& taken) {
    EXPECT_EQ(taken.who, "process 7 (nginx)");
  }
  EXPECT_EQ(script.tries, 0U);
}

TEST(WaitReady, C115AServiceThatEndedForItsTakenPortIsTriedAgain) {
  Script script({"refused"});
  script.ends_after = 0;
  script.end = "exited with status 1";
  script.stranger = "process 7 (nginx)";
  EXPECT_THROW(WaitReady("toy", script.Check(), {}, script.Watch(), {}), PortTaken);
}

TEST(WaitReady, AStopRequestInterrupts) {
  Script script({"refused"});
  std::stop_source stop;
  stop.request_stop();
  EXPECT_THAT(script.Wait(script.Check(), stop.get_token()), HasSubstr("interrupted: "));
}

TEST(WaitReady, OneTryIsNotLongerThanWhatIsLeft) {
  Script script({"refused"});
  script.Wait(script.Check().Within(milliseconds(120)));
  EXPECT_THAT(script.patience, ::testing::ElementsAre(milliseconds(120), milliseconds(70),
                                                      milliseconds(20), milliseconds(10)));
}

TEST(WaitReady, ATryThatTheDeadlineCutShortDoesNotHideTheAnswerBefore) {
  Script script({"answered 500", "no answer in time"});
  const std::string text = script.Wait(script.Check().Within(milliseconds(120)));
  EXPECT_THAT(text, HasSubstr("last answer: answered 500"));
}

TEST(LastLines, KeepsTheEndIndented) {
  EXPECT_EQ(LastLines("a\nb\nc\n", 2), "  b\n  c");
  EXPECT_EQ(LastLines("only"), "  only");
  EXPECT_EQ(LastLines("\n\n"), "  (it wrote nothing)");
}

TEST(Readiness, DefaultsAreStated) {
  const Readiness ready = HttpReady("/healthz");
  EXPECT_EQ(ready.timeout(), seconds(60));
  EXPECT_EQ(ready.interval(), milliseconds(50));
  EXPECT_EQ(ready.successes(), 1);
  EXPECT_EQ(ready.description(), "GET /healthz answers 200");
}

TEST(Readiness, OptionsMakeCopies) {
  const Readiness ready = TcpReady();
  const Readiness patient = ready.Within(seconds(5)).PollEvery(seconds(1)).Stable(2);
  EXPECT_EQ(patient.timeout(), seconds(5));
  EXPECT_EQ(patient.interval(), seconds(1));
  EXPECT_EQ(patient.successes(), 2);
  EXPECT_EQ(ready.timeout(), seconds(60));
}

TEST(Readiness, RefusesWhatCannotBe) {
  EXPECT_THROW(TcpReady().Within(seconds(0)), Error);
  EXPECT_THROW(TcpReady().PollEvery(seconds(-1)), Error);
  EXPECT_THROW(TcpReady().Stable(0), Error);
  EXPECT_THROW(HttpReady("healthz"), Error);
  EXPECT_THROW(HttpReady("/a b"), Error);
  EXPECT_THROW(HttpReady("/\r\nX: y"), Error);
  EXPECT_THROW(LogLineReady(""), Error);
  EXPECT_THROW(CallableReady("nothing", nullptr), Error);
}

TEST(Readiness, C109ALogLineAloneIsNotEnough) {
  ReadinessTarget target{.host = "127.0.0.1", .logs = [] { return std::string("starting\n"); }};
  EXPECT_EQ(LogLineReady("listening").Try(target), "no log line has \"listening\"");
}

TEST(Readiness, ACallableDecides) {
  bool ready = false;
  const Readiness check = CallableReady("my check", [&](const ReadinessTarget&) { return ready; });
  EXPECT_NE(check.Try({}), "");
  ready = true;
  EXPECT_EQ(check.Try({}), "");
}

}  // namespace
}  // namespace throttletest::internal
