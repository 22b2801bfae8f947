// WorkGate: at most so many burn at once, at most so many wait, first come first served.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <mutex>
#include <optional>

namespace burn_server {

// Hands out a fixed number of slots (the workers) and keeps those who wait in the order they came.
//
//   WorkGate gate(1, 6);
//   WorkGate::Pass pass(gate);
//   if (pass.outcome() == WorkGate::Outcome::kFull) return 429;
//
// Thread-safe.
class WorkGate {
 public:
  enum class Outcome {
    kEntered,  // holds a slot
    kFull,     // as many as allowed were waiting already
    kStopped,  // Stop() was called before a slot came free
  };

  // Units: slots >= 1; max_waiting counts those without a slot.
  // Absent: max_waiting empty means any number may wait.
  explicit WorkGate(std::size_t slots, std::optional<std::size_t> max_waiting = std::nullopt);

  // Waits for a slot, unless the queue is full or the gate is stopped.
  Outcome Enter();
  // Gives the slot back, to the one who waits longest if anybody does. Only after kEntered.
  void Leave();
  // Turns away everybody who waits or comes later. Slots in use stay in use until Leave().
  void Stop();

  std::size_t running() const;
  std::size_t waiting() const;

  // A slot that gives itself back.
  class Pass {
   public:
    explicit Pass(WorkGate& gate) : gate_(gate), outcome_(gate.Enter()) {}
    Pass(const Pass&) = delete;
    Pass& operator=(const Pass&) = delete;
    ~Pass() {
      if (outcome_ == Outcome::kEntered) gate_.Leave();
    }
    Outcome outcome() const { return outcome_; }

   private:
    WorkGate& gate_;
    Outcome outcome_;
  };

 private:
  // One who waits; woken alone, so that a freed slot wakes one thread and not all of them.
  struct Waiter {
    std::condition_variable woken;
    bool has_slot = false;
  };

  const std::size_t slots_;
  const std::optional<std::size_t> max_waiting_;
  mutable std::mutex mutex_;
  std::deque<Waiter*> queue_;
  std::size_t running_ = 0;
  bool stopped_ = false;
};

}  // namespace burn_server
