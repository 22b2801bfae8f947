#include "work_gate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <mutex>
#include <thread>
#include <vector>

namespace burn_server {
namespace {

using Outcome = WorkGate::Outcome;

// Threads that enter the gate one after the other and note the order in which they got a slot.
class Crowd {
 public:
  explicit Crowd(WorkGate& gate) : gate_(gate) {}
  ~Crowd() { Join(); }

  // Returns once the new thread waits in the queue.
  void Add() {
    const auto before = gate_.waiting();
    const auto number = static_cast<int>(threads_.size());
    threads_.emplace_back([this, number] {
      const auto outcome = gate_.Enter();
      {
        const std::lock_guard lock(mutex_);
        outcomes_.push_back(outcome);
        if (outcome == Outcome::kEntered) order_.push_back(number);
      }
      if (outcome == Outcome::kEntered) gate_.Leave();
    });
    while (gate_.waiting() == before) std::this_thread::yield();
  }
  void Join() {
    for (auto& thread : threads_) {
      if (thread.joinable()) thread.join();
    }
  }
  std::vector<int> order() const { return order_; }
  std::vector<Outcome> outcomes() const { return outcomes_; }

 private:
  WorkGate& gate_;
  std::vector<std::thread> threads_;
  std::mutex mutex_;
  std::vector<int> order_;
  std::vector<Outcome> outcomes_;
};

TEST(WorkGate, LetsInAsManyAsThereAreSlots) {
  WorkGate gate(2, 0);
  EXPECT_EQ(gate.Enter(), Outcome::kEntered);
  EXPECT_EQ(gate.Enter(), Outcome::kEntered);
  EXPECT_EQ(gate.running(), 2U);
  EXPECT_EQ(gate.Enter(), Outcome::kFull);
}

TEST(WorkGate, ASlotGivenBackCanBeHadAgain) {
  WorkGate gate(1, 0);
  EXPECT_EQ(gate.Enter(), Outcome::kEntered);
  gate.Leave();
  EXPECT_EQ(gate.running(), 0U);
  EXPECT_EQ(gate.Enter(), Outcome::kEntered);
}

TEST(WorkGate, ServesInTheOrderOfArrival) {
  WorkGate gate(1);
  ASSERT_EQ(gate.Enter(), Outcome::kEntered);
  Crowd crowd(gate);
  for (int i = 0; i < 8; ++i) crowd.Add();
  gate.Leave();
  crowd.Join();
  EXPECT_THAT(crowd.order(), testing::ElementsAre(0, 1, 2, 3, 4, 5, 6, 7));
  EXPECT_EQ(gate.running(), 0U);
}

TEST(WorkGate, AFullQueueTurnsTheNextAway) {
  WorkGate gate(1, 2);
  ASSERT_EQ(gate.Enter(), Outcome::kEntered);
  Crowd crowd(gate);
  crowd.Add();
  crowd.Add();
  EXPECT_EQ(gate.Enter(), Outcome::kFull);
  gate.Leave();
  crowd.Join();
  EXPECT_EQ(gate.Enter(), Outcome::kEntered) << "the queue is empty again";
}

TEST(WorkGate, NobodyOvertakesAWaiter) {
  WorkGate gate(1, 1);
  ASSERT_EQ(gate.Enter(), Outcome::kEntered);
  std::thread waiter([&] { EXPECT_EQ(gate.Enter(), Outcome::kEntered); });
  while (gate.waiting() == 0) std::this_thread::yield();
  gate.Leave();
  // The slot went to the waiter at once, awake already or not.
  EXPECT_EQ(gate.running(), 1U);
  waiter.join();
  EXPECT_EQ(gate.waiting(), 0U);
}

TEST(WorkGate, StopTurnsAwayThoseWhoWait) {
  WorkGate gate(1);
  ASSERT_EQ(gate.Enter(), Outcome::kEntered);
  Crowd crowd(gate);
  crowd.Add();
  crowd.Add();
  gate.Stop();
  crowd.Join();
  EXPECT_THAT(crowd.outcomes(), testing::ElementsAre(Outcome::kStopped, Outcome::kStopped));
  EXPECT_EQ(gate.Enter(), Outcome::kStopped);
  gate.Leave();
  EXPECT_EQ(gate.running(), 0U);
}

TEST(WorkGatePass, GivesItsSlotBack) {
  WorkGate gate(1, 0);
  {
    const WorkGate::Pass pass(gate);
    EXPECT_EQ(pass.outcome(), Outcome::kEntered);
    const WorkGate::Pass refused(gate);
    EXPECT_EQ(refused.outcome(), Outcome::kFull);
  }
  EXPECT_EQ(gate.running(), 0U);
}

}  // namespace
}  // namespace burn_server
