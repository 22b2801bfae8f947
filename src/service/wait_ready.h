// Waiting until a service is ready, or until it is certain that it never will be.
#pragma once

#include <chrono>
#include <functional>
#include <stop_token>
#include <string>

#include "throttletest/service/readiness.h"

namespace throttletest::internal {

// Somebody else listens on the port that was picked for the service. A start with another port can
// still work.
struct PortTaken {
  std::string who;  // "process 17 (nginx)"
};

// What waiting looks at, so that it is tested without a service and without sleeping.
struct ReadyWatch {
  // Why the service can no longer become ready: "exited with status 3". Empty: it runs.
  std::function<std::string()> ended;
  // Who else listens on the port. Empty: nobody that is known of.
  std::function<std::string()> stranger;
  std::function<std::chrono::steady_clock::time_point()> now;
  std::function<void(std::chrono::nanoseconds, std::stop_token)> sleep;
};

// A watch on the real clock with nothing to look at.
ReadyWatch RealTimeWatch();

// Returns when `ready` held as often in a row as it asks for.
// `name` is for messages: the program or image.
// Errors: kNotReady with the reason, the check, its last answer, the time and the last log lines;
// kInterrupted. Throws PortTaken when a stranger answers on the port.
void WaitReady(const std::string& name, const Readiness& ready, const ReadinessTarget& target,
               const ReadyWatch& watch, const std::stop_token& stop);

// The last `count` lines of `text`, indented for a message. Empty text: "(it wrote nothing)".
std::string LastLines(const std::string& text, int count = 12);

}  // namespace throttletest::internal
