#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "base/refuse.h"
#include "measure/overlap.h"
#include "service/host_turn.h"
#include "throttletest/base/duration.h"
#include "throttletest/base/error.h"
#include "throttletest/load/engine.h"
#include "throttletest/measure/service_time.h"

namespace throttletest {
namespace {

using internal::Refuse;
using std::chrono::milliseconds;
using std::chrono::nanoseconds;

// How often a distance that turned out too short is doubled.
constexpr int kMostDoublings = 2;
// What never answers does not keep the test for all of the warm-up.
constexpr int kTries = 3;

std::string MostFrequentReason(const LoadResult& load) {
  std::string reason = load.timed_out > 0 ? "timed out" : "no reason is known";
  std::int64_t most = load.timed_out;
  for (const auto& [text, count] : load.failure_reasons) {
    if (count > most) reason = text;
    most = std::max(most, count);
  }
  return reason;
}

struct WarmUp {
  int sent = 0;
  int ok = 0;
  nanoseconds slowest{0};  // after the first, which is cold
  std::string trouble;     // of the last that failed
};

// One after the other: nothing is known yet of how long one takes.
WarmUp Warm(Service& service, const Request& request, const ServiceTimeOptions& options) {
  const MeasureOptions& measure = options.measure;
  LoadEngine engine({.port = service.port(), .unix_path = measure.unix_path, .tls = measure.tls},
                    request, {.lead = milliseconds(20)});
  const Schedule one({{.start = nanoseconds(0), .size = 1}});
  WarmUp warm;
  const auto end = std::chrono::steady_clock::now() + options.warm_up;
  while (warm.sent < 2 || std::chrono::steady_clock::now() < end) {
    if (measure.stop.stop_requested() || !service.alive()) break;  // MeasureService() says so
    const LoadResult result = engine.Run(one, measure.stop);
    ++warm.sent;
    if (measure.progress) measure.progress({"warm-up", warm.sent, 0});
    if (result.ok == 0) {
      warm.trouble = MostFrequentReason(result);
      if (warm.ok == 0 && warm.sent == kTries) break;
      continue;
    }
    if (warm.sent > 1) warm.slowest = std::max(warm.slowest, result.records[0].service_time());
    ++warm.ok;
  }
  return warm;
}

// A distance that is no multiple of the period, so that requests meet the quota at every point of
// it: what is left of a period when a request comes is part of what it takes.
nanoseconds Distance(nanoseconds slowest, const CpuBandwidth& cpu) {
  const nanoseconds enough = slowest + slowest / 2 + milliseconds(20);
  if (!cpu.limited()) return enough;
  constexpr double kGoldenRatio = 0.6180339887498949;
  const nanoseconds period = cpu.period;
  const nanoseconds whole = (enough / period + 1) * period;
  return whole + nanoseconds(std::llround(kGoldenRatio * static_cast<double>(period.count())));
}

std::string BurstNote(const CpuBandwidth& cpu) {
  return fmt::format(
      "a burst of {} is saved up in the pause between two requests: several in a row will not all "
      "have it, so their service time can be longer",
      ToString(nanoseconds(cpu.burst)));
}

}  // namespace

void Validate(const ServiceTimeOptions& options) {
  if (options.requests < ServiceTime::kFewestRequests) {
    Refuse(fmt::format("a service time from {} requests is not possible: it takes {} or more",
                       options.requests, ServiceTime::kFewestRequests));
  }
  if (options.warm_up < nanoseconds(0)) {
    Refuse(fmt::format("a warm-up of {} is not possible: it must be 0 or more",
                       ToString(options.warm_up)));
  }
  if (options.every && *options.every <= nanoseconds(0)) {
    Refuse(fmt::format("requests every {} are not possible: it must be above 0",
                       ToString(*options.every)));
  }
  if (options.measure.until_decided) {
    Refuse("a service time cannot be measured until decided: its worst is only known at the end");
  }
  Validate(options.measure);
}

Measurement MeasureServiceTime(Service& service, const Request& request,
                               const ServiceTimeOptions& options) {
  Validate(options);
  Validate(request);
  // The warm-up is as disturbing as what follows it.
  const internal::HostTurn turn(options.measure.stop);
  const WarmUp warm = Warm(service, request, options);
  if (warm.sent >= 2 && warm.ok == 0 && service.alive() && !options.measure.stop.stop_requested()) {
    throw Error(ErrorCode::kLoad,
                fmt::format("no service time: none of the {} requests of the warm-up was answered "
                            "with success ({}: {})",
                            warm.sent, request.ToString(), warm.trouble));
  }
  const CpuBandwidth& cpu = service.requested().cpu;
  nanoseconds every = options.every.value_or(Distance(warm.slowest, cpu));
  std::vector<std::string> notes;
  for (int doublings = 0;; ++doublings) {
    const LoadPlan plan = Batches(1).Every(every).For(every * options.requests).WarmUp(every);
    Measurement m = MeasureService(service, plan, request, options.measure);
    const bool too_close = m.validity.trusted() && internal::OverlapOf(m.load).any();
    if (too_close && !options.every && doublings < kMostDoublings) {
      notes.push_back(fmt::format("requests every {} overlapped, so they were measured again",
                                  ToString(every)));
      every = Distance(every * 2, cpu);
      continue;
    }
    if (cpu.burst.count() > 0) notes.push_back(BurstNote(cpu));
    m.notes.insert(m.notes.begin(), notes.begin(), notes.end());
    return m;
  }
}

}  // namespace throttletest
