#include "work_gate.h"

namespace burn_server {

WorkGate::WorkGate(std::size_t slots, std::optional<std::size_t> max_waiting)
    : slots_(slots), max_waiting_(max_waiting) {}

WorkGate::Outcome WorkGate::Enter() {
  std::unique_lock lock(mutex_);
  if (stopped_) return Outcome::kStopped;
  if (running_ < slots_) {
    ++running_;
    return Outcome::kEntered;
  }
  if (max_waiting_ && queue_.size() >= *max_waiting_) return Outcome::kFull;
  Waiter self;
  queue_.push_back(&self);
  self.woken.wait(lock, [&] { return self.has_slot || stopped_; });
  return self.has_slot ? Outcome::kEntered : Outcome::kStopped;
}

void WorkGate::Leave() {
  const std::lock_guard lock(mutex_);
  if (queue_.empty() || stopped_) {
    --running_;
    return;
  }
  // The slot changes hands without becoming free: nobody who comes now can overtake.
  Waiter* next = queue_.front();
  queue_.pop_front();
  next->has_slot = true;
  // Under the lock: once it sees has_slot the waiter may return, and its condition variable goes.
  next->woken.notify_one();
}

void WorkGate::Stop() {
  const std::lock_guard lock(mutex_);
  stopped_ = true;
  for (Waiter* waiter : queue_) waiter->woken.notify_one();
  queue_.clear();
}

std::size_t WorkGate::running() const {
  const std::lock_guard lock(mutex_);
  return running_;
}

std::size_t WorkGate::waiting() const {
  const std::lock_guard lock(mutex_);
  return queue_.size();
}

}  // namespace burn_server
