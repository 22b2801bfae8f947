// gMock matchers on a Measurement. Each is a thin wrapper over a Budget.
//
//   EXPECT_THAT(m, ThrottleRatioBelow(0.05));
//   EXPECT_THAT(m, AllOf(P99Below(150ms), NoFailedRequests()));
//
// A figure that is missing or not trusted passes no matcher: the matcher does not match AND reports
// a failure of its own, so that Not(...), AnyOf(...) and EXPECT_FALSE(Value(...)) cannot turn it
// green.
//
// Deliberately absent: matchers on an average latency (it hides the stall) and "at least" matchers;
// SaturatesLimit() bounds the share of the limit that is left.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <iosfwd>

#include "throttletest/base/byte_size.h"
#include "throttletest/measure/budget.h"
#include "throttletest/measure/measurement.h"

namespace throttletest {

using MeasurementMatcher = testing::Matcher<const Measurement&>;

// Matches when `budget` is met; the others are shorthands for it.
MeasurementMatcher MeetsBudget(const Budget& budget);

// Throttled periods / periods. Units: 0..1. Inconclusive without a quota or below 10 periods.
MeasurementMatcher ThrottleRatioBelow(double ratio);
MeasurementMatcher ThrottledPeriodsBelow(std::int64_t periods);
// Batches during which a period was throttled.
MeasurementMatcher ThrottledBurstsBelow(std::int64_t bursts);
// Throttled seconds per second, summed over CPUs, so it may exceed 1.
MeasurementMatcher ThrottledTimePerSecondBelow(double seconds_per_second);
// No throttled period at all. Timer jitter makes this fail now and then near the limit: prefer a
// small ThrottleRatioBelow.
MeasurementMatcher NeverThrottled();
// No burst was throttled.
MeasurementMatcher BurstFitsQuota();
// Mean CPU use. Units: CPUs.
MeasurementMatcher CpuUsageBelow(double cpus);

// Response time = done - intended start, nearest rank, failures rank as infinitely slow.
// Inconclusive with fewer than 100 / (100 - p) samples.
MeasurementMatcher P50Below(std::chrono::nanoseconds bound);
MeasurementMatcher P90Below(std::chrono::nanoseconds bound);
MeasurementMatcher P95Below(std::chrono::nanoseconds bound);
MeasurementMatcher P99Below(std::chrono::nanoseconds bound);
MeasurementMatcher P999Below(std::chrono::nanoseconds bound);
MeasurementMatcher PercentileBelow(double percent, std::chrono::nanoseconds bound);
MeasurementMatcher MaxBelow(std::chrono::nanoseconds bound);
// Service time = done - sent.
MeasurementMatcher ServiceTimeP99Below(std::chrono::nanoseconds bound);

// (failed + timed out) / sent. Units: 0..1.
MeasurementMatcher ErrorRatioBelow(double ratio);
MeasurementMatcher NoFailedRequests();
// 99th percentile of sent - intended: a stricter bound on the generator than the validity gate's.
MeasurementMatcher StartLagBelow(std::chrono::nanoseconds bound);
// Highest memory use of the service's life. Inconclusive where the kernel has no peak.
MeasurementMatcher MemoryPeakBelow(ByteSize bound);
// No process of the service was OOM-killed during the window.
MeasurementMatcher NotOomKilled();

// A queue of `depth` jobs before one worker, the one that is worked on included, is done within
// `timeout` of its last job's submission: depth x worst service time <= timeout. The service time
// is taken from a run of MeasureServiceTime(), or of batches that are answered one by one; see
// ServiceTimeOf(). The message has the sum, what is left, and the depth that would fit.
MeasurementMatcher QueueDepthFits(int depth, std::chrono::nanoseconds timeout);
// The same, and inconclusive when the run was measured under other limits than the `declared` ones:
// the service time is a function of the limit.
MeasurementMatcher QueueDepthFits(int depth, std::chrono::nanoseconds timeout,
                                  const Limits& declared);
// Requests of a batch are answered one by one, by one worker; see WorkersOf(). Inconclusive for
// batches of fewer than 3 requests.
MeasurementMatcher ServesSerially();
// One request alone uses `share` of the CPU limit or more while it is worked on, so that more
// workers would not help. Needs requests that are sent one at a time and take several enforcement
// periods. Units: 0..1.
MeasurementMatcher SaturatesLimit(double share = 0.95);
// The service has no more threads than its quota keeps busy (its CPUs rounded up, at least one) and
// `others` that rarely run: the main thread, an acceptor, a collector. Inconclusive without a quota
// and where threads cannot be counted.
MeasurementMatcher ThreadsFitQuota(int others = 0);

// Of a job, see RunJob(). It ended by itself with status 0, and nothing of it was OOM-killed. The
// message has how it ended and the last lines of its output.
MeasurementMatcher Succeeds();
// Of a job that succeeded: from its program's first instruction to its end. One that failed or was
// stopped never matches.
MeasurementMatcher ElapsedBelow(std::chrono::nanoseconds bound);
// The same against another run of the same job on the same machine, usually one without limits: 2
// is twice as long. Inconclusive when either run is not trusted or the machine was another.
MeasurementMatcher ElapsedRatioBelow(const Measurement& unlimited, double factor);

// For GoogleTest's messages: the one-line summary.
void PrintTo(const Measurement& m, std::ostream* os);

}  // namespace throttletest
