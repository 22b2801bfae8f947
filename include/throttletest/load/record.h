// RequestRecord: the three times and the fate of one request. LoadResult: all of them.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "throttletest/load/latency.h"

namespace throttletest {

enum class RequestFate : std::uint8_t {
  kOk,        // an expected status and a complete answer
  kFailed,    // refused, reset, short body, malformed answer or another status
  kTimedOut,  // no complete answer within the timeout, counted from the intended start
  kNotSent,   // the generator could not send it: in-flight bound, no local port, interrupted
};

// One request. Units: ns from LoadResult::epoch. At most 64 bytes: ten million fit in memory.
struct RequestRecord {
  std::int64_t intended_ns = 0;
  // Right before its bytes were handed to the kernel; when they did not fit at once, when the last
  // of them had been. The first time, when it was sent again. Absent: -1, not (wholly) written: not
  // sent, refused, or timed out for want of a connection.
  std::int64_t sent_ns = -1;
  // When the answer was complete or the request failed or timed out. Absent: -1, not sent.
  std::int64_t done_ns = -1;
  std::uint32_t batch = 0;
  std::uint16_t kind = 0;   // which of the engine's requests
  std::int16_t status = 0;  // HTTP status. Absent: 0, no answer.
  RequestFate fate = RequestFate::kNotSent;
  // Sent long after its intended start (LoadEngineOptions::late_after), to catch up.
  bool late = false;
  bool retried = false;  // sent again on a fresh connection because the kept-alive one was closed

  // Errors (all three): kInvalidArgument when one of the two times is absent.
  std::chrono::nanoseconds start_lag() const;      // sent - intended
  std::chrono::nanoseconds service_time() const;   // done - sent
  std::chrono::nanoseconds response_time() const;  // done - intended
};
static_assert(sizeof(RequestRecord) <= 64);

// What a run of a schedule did. planned = ok + failed + timed_out + not_sent, always.
struct LoadResult {
  std::chrono::steady_clock::time_point epoch;  // the instant all *_ns are counted from
  std::vector<RequestRecord> records;           // in order of intended start
  std::int64_t planned = 0;
  std::int64_t sent = 0;  // planned - not_sent: handed to the service, refused connections included
  std::int64_t ok = 0;
  std::int64_t failed = 0;
  std::int64_t timed_out = 0;
  std::int64_t not_sent = 0;
  std::int64_t retried = 0;
  std::int64_t late = 0;
  // Distinct reasons of failed and not sent requests with their counts, e.g. "HTTP 500" -> 12,
  // "connection refused" -> 3, "short body: 5 of 10 bytes" -> 1. Their sum is failed + not_sent.
  std::map<std::string, std::int64_t> failure_reasons;
  std::chrono::nanoseconds engine_cpu{0};  // CPU time of the engine's thread
  bool interrupted = false;                // a stop was asked for before the schedule's end

  // Failed and timed-out requests rank as infinitely slow; not-sent ones have no sample.
  LatencySamples ResponseTimes() const;
  LatencySamples ServiceTimes() const;
  // Of the requests whose bytes were written, all finite.
  LatencySamples StartLags() const;
  // For every batch of two or more whose requests were all written: from the first write to the
  // last.
  LatencySamples BatchSpreads() const;
  // The first two of only the requests of one kind.
  LatencySamples ResponseTimesOf(int kind) const;
  LatencySamples ServiceTimesOf(int kind) const;
  // (failed + timed_out) / (planned - not_sent). Absent: NaN-free 0 when nothing was sent; check
  // sent.
  double error_ratio() const;

  // Whether the service kept up: of the requests sent that were meant to start before the last
  // instant of the schedule, how many there were and how many were over by then, be it with an
  // error. Units: per second.
  struct Throughput {
    double offered = 0;
    double answered = 0;
    // More than a tenth behind: the rest was queueing, and a longer run would be slower still.
    bool overloaded() const { return answered < 0.9 * offered; }
  };
  // Absent: all requests have the same intended start.
  std::optional<Throughput> throughput() const;

  // For k = 1..batch size: the median (nearest rank, P50) over batches of the k-th fastest response
  // in its batch; a failed or timed-out one is the slowest.
  // A batch with a not-sent request is left out. Absent: empty when no whole batch was sent.
  std::vector<Latency> BatchOrderMedians() const;
};

}  // namespace throttletest
