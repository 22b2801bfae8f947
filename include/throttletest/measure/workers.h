// WorkerEstimate: how many requests a service works on at once, from the answers to requests that
// were sent at the same instant.
//
//   const Outcome<WorkerEstimate> workers = WorkersOf(m);  // m: Batches(5).Every(60s)
//
// A client cannot see inside the service, but it sees when answers come. One worker answers the
// batch one by one: a staircase whose steps are the service times, all about the same. Two workers
// answer by pairs, and as many workers as requests answer all at once - however long each takes,
// because workers that share too little CPU are all slow together.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "throttletest/base/outcome.h"
#include "throttletest/measure/measurement.h"

namespace throttletest {

struct WorkerEstimate {
  // Between these two. Absent: most, the whole batch was answered at once, so that there may be any
  // number more.
  int fewest = 1;
  std::optional<int> most = {};
  int batch_size = 0;
  std::int64_t batches = 0;
  // Median over the batches of the k-th answer, from the first send of its batch. Ascending.
  std::vector<std::chrono::nanoseconds> answers = {};
  // Height of one step: the time one worker takes for one request while all are at work.
  std::chrono::nanoseconds step{0};

  bool is_serial() const { return fewest == 1 && most == 1; }
  // "1", "2", "4 to 7", "8 or more".
  std::string ToString() const;
};

// For each possible number of workers w, the straight line through (ceil(k / w), k-th answer) is
// fitted by least squares; its slope is the step. It must start at most one step after zero, else
// the batch was answered at once and not one by one, and at most three quarters of a step before,
// which a full quota does to the first answers. The w with the smallest squares is the estimate,
// and all whose squares are within twice that, or within 5 % of a step, are in its range.
//
// Inconclusive: the run is not trusted; batches of less than 3 requests, of different sizes, or
// that overlap each other; a request that failed; answers that fit no number of workers (half a
// step off on average: service times that differ too much). Errors: none.
Outcome<WorkerEstimate> WorkersOf(const Measurement& m);

}  // namespace throttletest
