#include <gtest/gtest.h>

#include <csignal>
#include <optional>

#include "throttletest/service/service.h"

namespace throttletest {
namespace {

struct Case {
  const char* name;
  ExitReport report;
  const char* text;
};

class ExitReportText : public ::testing::TestWithParam<Case> {};

TEST_P(ExitReportText, Says) { EXPECT_EQ(GetParam().report.ToString(), GetParam().text); }

ExitReport Status(int status, std::optional<std::int64_t> kills = 0) {
  ExitReport report;
  report.exit_code = status;
  report.oom_kills = kills;
  return report;
}

ExitReport Signal(int signal, std::optional<std::int64_t> kills = 0) {
  ExitReport report;
  report.signal = signal;
  report.oom_kills = kills;
  return report;
}

ExitReport Left(ExitReport report) {
  report.still_runs = true;
  return report;
}

ExitReport Stopped(ExitReport report) {
  report.stopped_by_us = true;
  return report;
}

INSTANTIATE_TEST_SUITE_P(
    All, ExitReportText,
    ::testing::Values(Case{"Left", Left(ExitReport{}), "was left running"},
                      Case{"Status", Status(3), "exited with status 3"},
                      Case{"StatusZero", Status(0, std::nullopt), "exited with status 0"},
                      Case{"C096SigkillWithoutOom", Signal(SIGKILL),
                           "killed by SIGKILL, no OOM recorded"},
                      Case{"C096Status137WithoutOom", Status(137),
                           "exited with status 137 (as after SIGKILL), no OOM recorded"},
                      Case{"SigkillWithoutEvidence", Signal(SIGKILL, std::nullopt),
                           "killed by SIGKILL, not known whether by OOM"},
                      Case{"C098Oom", Signal(SIGKILL, 1), "OOM-killed (1 kill)"},
                      Case{"C098OomInAnEngine", Status(137, 2), "OOM-killed (2 kills)"},
                      Case{"C099ChildOomThenExit", Status(1, 1),
                           "exited with status 1, a process of it was OOM-killed (1 kill)"},
                      Case{"C099ChildOomWhileItRan", Stopped(Signal(SIGTERM, 1)),
                           "ran until it was stopped, a process of it was OOM-killed (1 kill)"},
                      Case{"C105StoppedByForce", Stopped(Status(137)), "ran until it was stopped"},
                      Case{"Crash", Signal(SIGSEGV), "killed by SIGSEGV"},
                      Case{"RealTimeSignal", Signal(40), "killed by signal 40"},
                      Case{"Unknown", ExitReport{}, "ended, its exit status is not known"}),
    [](const auto& test) { return std::string(test.param.name); });

}  // namespace
}  // namespace throttletest
