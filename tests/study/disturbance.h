// What disturbs a measurement on purpose. Each lasts as long as the object lives.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <thread>

#include "throttletest/service/service.h"

namespace throttletest::study {

// A process of its own; killed and collected at the end.
class Helper {
 public:
  template <typename Body>
  explicit Helper(Body body) : pid_(Fork()) {
    if (pid_ == 0) {
      body();
      Leave();
    }
  }
  ~Helper();
  Helper(const Helper&) = delete;
  Helper& operator=(const Helper&) = delete;

 private:
  static pid_t Fork();
  [[noreturn]] static void Leave();

  pid_t pid_;
};

// A busy neighbour on one CPU.
[[noreturn]] void Burn(int cpu);

// Stops the process that called fork() for `pause`, again and again, `between` apart.
[[noreturn]] void PauseParent(std::chrono::milliseconds between, std::chrono::milliseconds pause);

// Somebody else changes the quota of the service in the middle of a run.
class LimitFlip {
 public:
  LimitFlip(const Service& service, std::chrono::milliseconds after);
  ~LimitFlip() { thread_.join(); }
  LimitFlip(const LimitFlip&) = delete;
  LimitFlip& operator=(const LimitFlip&) = delete;

 private:
  std::thread thread_;
};

}  // namespace throttletest::study
