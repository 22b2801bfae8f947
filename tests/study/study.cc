// The evidence behind the verdicts: the same load under known limits, judged many times, with and
// without disturbance. Prints how many verdicts were right, wrong and inconclusive, and how long
// they took against the published method, three rounds of 60 s at a fixed length.
//
//   build/bin/throttletest_study [quiet=200] [disturbed=200] [timed=1] [latency=1] > study.md
//
// Each word sets how many verdicts (quiet, disturbed) or rounds (timed, latency) are taken.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "disturbance.h"
#include "throttletest/base/error.h"
#include "throttletest/measure/budget.h"
#include "throttletest/measure/measure.h"
#include "throttletest/report/text.h"
#include "throttletest/service/service.h"

namespace throttletest::study {
namespace {

using namespace std::chrono_literals;
using std::chrono::nanoseconds;

constexpr double kPublishedSeconds = 180;
constexpr auto kPause = 300ms;

struct Setting {
  std::string name;
  Limits limits;
  bool throttles = false;  // a burst of 160 ms does not fit its quota
};

const std::vector<Setting>& Settings() {
  static const std::vector<Setting> settings = {
      {"none", {}, false},      {"4", {.cpus = 4}, false},    {"2", {.cpus = 2}, false},
      {"1", {.cpus = 1}, true}, {"0.5", {.cpus = 0.5}, true},
  };
  return settings;
}

// A budget and what must come out. Absent: the setting has no such figure, so it must be
// inconclusive.
struct Question {
  std::string kind;
  Budget budget;
  std::optional<Verdict> truth;
};

struct Count {
  int right = 0;
  int wrong = 0;
  int inconclusive = 0;
  std::vector<double> seconds;

  int all() const { return right + wrong + inconclusive; }
};

std::unique_ptr<Service> Start(const Setting& setting) {
  return StartService({.command = {BURN_SERVER, "--port={port}", "--threads=8"},
                       .limits = setting.limits,
                       .ready = HttpReady("/healthz")});
}

LoadPlan Plan(nanoseconds every, int batches) {
  return Batches(8).Every(every).For(every * batches).WarmUp(1s);
}

void Say(const std::string& text) { fmt::print(stderr, "study: {}\n", text); }

// The P99 of every setting by a run of fixed length, to place budgets a factor 2 away from it.
std::map<std::string, nanoseconds> MeasureTruth(nanoseconds every) {
  std::map<std::string, nanoseconds> p99;
  for (const Setting& setting : Settings()) {
    const auto service = Start(setting);
    const Measurement m =
        MeasureService(*service, Plan(every, static_cast<int>(20s / every)), Get("/burn?ms=20"));
    if (!m.validity.trusted()) {
      throw Error(ErrorCode::kLoad, "the truth could not be measured: " + m.validity.ToString());
    }
    p99[setting.name] = m.load.ResponseTimes().At(Percentile(99)).value();
    Say(fmt::format("truth, limit {}: {}", setting.name, Summary(m)));
  }
  return p99;
}

std::vector<Question> QuickQuestions(const Setting& setting, nanoseconds p99) {
  const Verdict throttling = setting.throttles ? Verdict::kMissed : Verdict::kMet;
  const bool quota = setting.name != "none";
  const auto known = quota ? std::optional(throttling) : std::nullopt;
  // The truth is 0 where it must be met, and about 0.25 or 0.6 where it must be missed.
  const double ratio = setting.throttles ? 0.1 : 0.2;
  return {{"throttle ratio", Budget::ThrottleRatio(Comparison::kBelow, ratio), known},
          {"throttled bursts", Budget::ThrottledBursts(Comparison::kAtMost, 7), known},
          {"P99, missed", Budget::ResponseTime(Percentile(99), Comparison::kBelow, p99 / 2),
           Verdict::kMissed}};
}

std::vector<Budget> BudgetsOf(const std::vector<Question>& questions) {
  std::vector<Budget> budgets;
  budgets.reserve(questions.size());
  for (const Question& question : questions) budgets.push_back(question.budget);
  return budgets;
}

class Study {
 public:
  // One run of a setting, judged by every question. Returns the number of verdicts.
  int Judge(const std::string& mode, const Setting& setting, const LoadPlan& plan,
            const std::vector<Question>& questions, Service& service, int retries) {
    const auto start = std::chrono::steady_clock::now();
    MeasureOptions options{.retries = retries};
    options.until_decided = UntilDecided{.budgets = BudgetsOf(questions)};
    const Measurement m = MeasureService(service, plan, Get("/burn?ms=20"), options);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    for (const Question& question : questions) {
      Add(mode, setting, question, question.budget.Evaluate(m), took.count());
    }
    if (m.early) last_early_ = m.early->ToString();
    return static_cast<int>(questions.size());
  }

  void Print() const {
    fmt::print("| run | verdicts | right | wrong | inconclusive |\n|---|---|---|---|---|\n");
    for (const auto& [mode, count] : modes_) {
      fmt::print("| {} | {} | {} | {} | {} |\n", mode, count.all(), count.right, count.wrong,
                 count.inconclusive);
    }
    fmt::print(
        "\n| run | limit | budget | verdicts | right | wrong | median time to verdict "
        "(range), s | published method / it |\n|---|---|---|---|---|---|---|---|\n");
    for (const auto& [key, count] : details_) PrintDetail(key, count);
    for (const std::string& line : wrong_) fmt::print("\nWrong: {}\n", line);
    if (!last_early_.empty()) fmt::print("\nThe last run: {}.\n", last_early_);
  }

  bool any_wrong() const { return !wrong_.empty(); }

 private:
  static void PrintDetail(const std::string& key, const Count& count) {
    std::vector<double> sorted = count.seconds;
    std::sort(sorted.begin(), sorted.end());
    const double median = sorted[(sorted.size() - 1) / 2];
    fmt::print("| {} | {} | {} | {} | {:.1f} ({:.1f}..{:.1f}) | {:.1f} |\n", key, count.all(),
               count.right, count.wrong, median, sorted.front(), sorted.back(),
               kPublishedSeconds / median);
  }

  void Add(const std::string& mode, const Setting& setting, const Question& question,
           const BudgetResult& result, double seconds) {
    Count& sum = modes_[mode];
    Count& detail = details_[fmt::format("{} | {} | {}", mode, setting.name, question.kind)];
    detail.seconds.push_back(seconds);
    const bool known = result.verdict != Verdict::kInconclusive;
    // No quota, no throttle ratio: that is the right answer then.
    if (known ? result.verdict == question.truth : !question.truth) {
      ++sum.right;
      ++detail.right;
    } else if (known) {
      ++sum.wrong;
      ++detail.wrong;
      wrong_.push_back(fmt::format("{}, limit {}: {} {}: {}", mode, setting.name, result.budget,
                                   VerdictName(result.verdict), result.explanation));
      Say("WRONG " + wrong_.back());
    } else {
      ++sum.inconclusive;
      ++detail.inconclusive;
      Say(fmt::format("{}, limit {}: {}", mode, setting.name, result.explanation));
    }
  }

  std::map<std::string, Count> modes_;
  std::map<std::string, Count> details_;
  std::vector<std::string> wrong_;
  std::string last_early_;
};

void Quiet(Study& study, int verdicts, const std::map<std::string, nanoseconds>& p99) {
  for (int done = 0; done < verdicts;) {
    for (const Setting& setting : Settings()) {
      const auto service = Start(setting);
      done += study.Judge("quiet", setting, Plan(500ms, 40),
                          QuickQuestions(setting, p99.at(setting.name)), *service, 2);
    }
    Say(fmt::format("quiet: {} of {} verdicts", done, verdicts));
  }
}

// Each run is disturbed in one way; it is not repeated, so that what the gates catch is seen.
void Disturbed(Study& study, int verdicts, const std::map<std::string, nanoseconds>& p99) {
  int way = 0;
  for (int done = 0; done < verdicts;) {
    for (const Setting& setting : Settings()) {
      const auto service = Start(setting);
      const std::vector<Question> questions = QuickQuestions(setting, p99.at(setting.name));
      const auto judge = [&](const char* mode) {
        done += study.Judge(mode, setting, Plan(500ms, 40), questions, *service, 0);
      };
      way = (way + 1) % 3;
      if (way == 0) {
        const Helper neighbour([] { Burn(0); });
        judge("busy neighbour on one CPU");
      } else if (way == 1 || !service->requested().cpu.quota) {
        const Helper pauser([] { PauseParent(1300ms, kPause); });
        judge("generator stopped for 300 ms");
      } else {
        const LimitFlip flip(*service, 2500ms);
        judge("limit changed by somebody else");
      }
    }
    Say(fmt::format("disturbed: {} of {} verdicts", done, verdicts));
  }
}

// The published load itself, one batch a second, for the time to a verdict.
void Timed(Study& study, int rounds, const std::map<std::string, nanoseconds>& p99) {
  for (int round = 0; round < rounds; ++round) {
    for (const Setting& setting : Settings()) {
      for (const Question& question : QuickQuestions(setting, p99.at(setting.name))) {
        const auto service = Start(setting);
        study.Judge("a batch a second", setting, Plan(1s, 40), {question}, *service, 2);
      }
    }
    Say(fmt::format("timed: round {} of {}", round + 1, rounds));
  }
}

// A met P99 needs some 320 batches, so more than five minutes of the published load.
void LatencyMet(Study& study, int rounds, const std::map<std::string, nanoseconds>& p99) {
  for (int round = 0; round < rounds; ++round) {
    for (const Setting& setting : Settings()) {
      if (setting.name == "1" || setting.name == "4") continue;
      const auto service = Start(setting);
      const Question question{
          "P99, met",
          Budget::ResponseTime(Percentile(99), Comparison::kBelow, p99.at(setting.name) * 2),
          Verdict::kMet};
      study.Judge("a batch a second", setting, Plan(1s, 550), {question}, *service, 2);
    }
    Say(fmt::format("latency: round {} of {}", round + 1, rounds));
  }
}

int CountOf(int argc, char** argv, const std::string& name, int otherwise) {
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word.starts_with(name + "=")) return std::atoi(word.c_str() + name.size() + 1);
  }
  return otherwise;
}

int Run(int argc, char** argv) {
  Study study;
  const int quiet = CountOf(argc, argv, "quiet", 200);
  const int disturbed = CountOf(argc, argv, "disturbed", 200);
  // The distances are no multiple of the period, so that bursts meet it at every point.
  if (quiet > 0 || disturbed > 0) {
    const auto truth = MeasureTruth(530ms);
    Quiet(study, quiet, truth);
    Disturbed(study, disturbed, truth);
  }
  const int timed = CountOf(argc, argv, "timed", 1);
  const int latency = CountOf(argc, argv, "latency", 1);
  if (timed > 0 || latency > 0) {
    const auto truth = MeasureTruth(1030ms);
    Timed(study, timed, truth);
    LatencyMet(study, latency, truth);
  }
  study.Print();
  return study.any_wrong() ? 1 : 0;
}

}  // namespace
}  // namespace throttletest::study

int main(int argc, char** argv) {
  try {
    return throttletest::study::Run(argc, argv);
  } catch (const std::exception& e) {
    fmt::print(stderr, "study: {}\n", e.what());
    return 2;
  }
}
