// The trap of a derived value: a queue depth is right under one limit and wrong under another.
//
// Two runs of the same service differ in their limit alone, by a factor of two as in the published
// case. One worker, jobs of about 300 ms CPU (there: minutes), a time-out of 3.6 s (there: 240 s).
// For each limit: the worst service time, whether a depth of 8 holds, whether five requests at once
// are served one by one, and whether one job alone fills the limit, so that a second worker would
// not help.
#include <throttletest/throttletest.h>

#include <cstdio>
#include <iostream>
#include <string>

using namespace throttletest;
using namespace std::chrono_literals;

namespace {

constexpr int kQueueDepth = 8;
constexpr auto kTimeout = 3600ms;
constexpr const char* kJob = "/burn?ms=300";

struct Published {
  const char* service_time;
  const char* queue;
  const char* staircase;
  const char* one_job;
};

struct Setting {
  const char* name;
  Limits limits;
  Published published;
};

// On 4 CPUs, limits of 1.75 and 3.5.
const Setting kTight = {"0.5",
                        {.cpus = 0.5},
                        {"31.4 s under 1.75", "251 s > 240 s: cut to 6",
                         "9.05 14.05 20.38 25.87 32.41 s", "1.75-1.80 of 1.75 (all load)"}};
const Setting kLifted = {
    "1", {.cpus = 1}, {"16.9 s under 3.5", "135 s, 105 s to spare", "-", "3.40, 3.32 of 3.5"}};

struct Results {
  Measurement alone;     // one job at a time
  Measurement together;  // five at once
};

class QueueDepthTrap : public ThrottleTestBase {
 protected:
  Results MeasureUnder(const Setting& setting) {
    Service& service = Start({.command = {BURN_SERVER, "--port={port}", "--workers=1"},
                              .limits = setting.limits,
                              .ready = HttpReady("/healthz")});
    Results results{
        .alone = MeasureServiceTimeOn(service, Get(kJob), {.requests = 10}),
        .together = MeasureOn(service, Batches(5).Every(5s).For(10s).WarmUp(0s), Get(kJob))};
    service.Stop();
    return results;
  }
};

std::string Seconds(std::chrono::nanoseconds time) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2f", std::chrono::duration<double>(time).count());
  return text;
}

void Row(const std::string& what, const std::string& here, const std::string& published) {
  std::printf("  %-34s %-34s %s\n", what.c_str(), here.c_str(), published.c_str());
}

std::string VerdictText(const BudgetResult& result) {
  return std::string(VerdictName(result.verdict)) + " (" +
         Seconds(
             std::chrono::nanoseconds(static_cast<std::int64_t>(result.value.value_or(0) * 1e6))) +
         " s of " + Seconds(kTimeout) + " s)";
}

void Print(const Setting& setting, const Results& results) {
  std::cout << "\nLimit of " << setting.name << " CPUs\n";
  Row("", "here", "published");
  Row("worst service time", Seconds(ServiceTimeOf(results.alone).value().worst().value()) + " s",
      setting.published.service_time);
  Row("queue depth of 8",
      VerdictText(Budget::QueueDepth(kQueueDepth, kTimeout).Evaluate(results.alone)),
      setting.published.queue);
  const WorkerEstimate workers = WorkersOf(results.together).value();
  std::string answers;
  for (const auto answer : workers.answers) answers += Seconds(answer) + " ";
  Row("5 at once, answered after", answers + "s", setting.published.staircase);
  Row("workers", workers.ToString(), "1");
  const BudgetResult unused =
      Budget::UnusedLimit(Comparison::kAtMost, 0.05).Evaluate(results.alone);
  char used[64];
  std::snprintf(used, sizeof used, "%.1f %% of the limit", 100 * (1 - unused.value.value_or(1)));
  Row("one job alone uses", used, setting.published.one_job);
}

TEST_F(QueueDepthTrap, ADepthIsRightUnderTheLimitItWasMeasuredUnder) {
  const Results tight = MeasureUnder(kTight);
  const Results lifted = MeasureUnder(kLifted);
  std::cout << "\nOne worker, " << kQueueDepth << " jobs in the queue, GET " << kJob << "\n";
  Print(kTight, tight);
  Print(kLifted, lifted);

  const Budget depth = Budget::QueueDepth(kQueueDepth, kTimeout);
  std::cout << "\nUnder " << kTight.name << " CPUs: " << depth.Evaluate(tight.alone).explanation
            << "\nUnder " << kLifted.name << " CPUs: " << depth.Evaluate(lifted.alone).explanation
            << "\n";

  EXPECT_THAT(tight.alone, Not(QueueDepthFits(kQueueDepth, kTimeout, kTight.limits)));
  EXPECT_THAT(lifted.alone, QueueDepthFits(kQueueDepth, kTimeout, kLifted.limits));
  // Measured without the limit that is deployed, the depth would look right.
  const BudgetResult trap = depth.DeployedUnder(kTight.limits).Evaluate(lifted.alone);
  std::cout << "Measured under the lifted limit, deployed under the tight one: " << trap.explanation
            << "\n\n";
  EXPECT_EQ(trap.verdict, Verdict::kInconclusive);

  for (const Results& results : {tight, lifted}) {
    EXPECT_THAT(results.together, AllOf(ServesSerially(), NoFailedRequests()));
    EXPECT_THAT(results.alone, SaturatesLimit());
  }
}

}  // namespace
