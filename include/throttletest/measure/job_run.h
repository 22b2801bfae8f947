// JobRun: what a job that ran to its end adds to a Measurement.
#pragma once

#include <chrono>
#include <string>

#include "throttletest/base/outcome.h"
#include "throttletest/service/service.h"

namespace throttletest {

// How long a job ran and how it ended.
struct JobRun {
  // From the moment its program was seen to run to the moment it ended, by the monotonic clock;
  // what was made for it before (cgroup, image, container) is not in it. Inconclusive: it did not
  // end by itself.
  Outcome<std::chrono::nanoseconds> elapsed = {};
  // The same, also of a job that was stopped: it then says how long it was let run.
  std::chrono::nanoseconds ran{0};
  // How much earlier than it was seen the program may have begun: `elapsed` may be so much longer.
  // Some milliseconds for the cgroup launcher, which waits for the program to be started;
  // container engines do not tell that moment, so it is looked for every millisecond. Units: >= 0.
  std::chrono::nanoseconds at_most_before{0};
  ExitReport end = {};
  bool timed_out = false;  // it was stopped after `timeout`
  std::chrono::nanoseconds timeout{0};

  // It ended by itself, with status 0, and nothing of it was OOM-killed.
  bool succeeded() const;
  // What shells make of the end: the exit status, or 128 + signal; 137 as well when a process of it
  // was OOM-killed and the main one ended with 0 all the same. Inconclusive: it did not end by
  // itself. Not available: the engine does not say.
  Outcome<int> status() const;
  // "exited with status 3", "was OOM-killed (1 kill)", "was stopped after its timeout of 5 s".
  std::string ToString() const;
};

}  // namespace throttletest
