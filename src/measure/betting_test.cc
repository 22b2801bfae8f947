#include "measure/betting_test.h"

namespace throttletest::internal {
namespace {

// Most of the money goes all in: it is the quickest when no observation is above 0. The rest stakes
// less and survives the observations that ruin it.
constexpr double kAllIn = 0.8;
constexpr double kCautious = (1 - kAllIn) / 2;

}  // namespace

BettingTest::BettingTest(double bound, double error_rate)
    : bound_(bound),
      target_(1 / error_rate),
      below_{{{1, kAllIn}, {0.5, kCautious}, {0.2, kCautious}}},
      above_{{{0.8, 1.0 / 6},
              {0.5, 1.0 / 6},
              {0.25, 1.0 / 6},
              {0.1, 1.0 / 6},
              {0.03, 1.0 / 6},
              {0.01, 1.0 / 6}}} {}

void BettingTest::Add(double observation) {
  if (answer_ != Answer::kOpen) return;
  ++count_;
  const double excess = observation - bound_;
  double below = 0;
  for (Account& account : below_) {
    account.money *= 1 - account.stake * excess / (1 - bound_);
    below += account.money;
  }
  double above = 0;
  for (Account& account : above_) {
    account.money *= 1 + account.stake * excess / bound_;
    above += account.money;
  }
  if (below >= target_) answer_ = Answer::kBelow;
  if (above >= target_) answer_ = Answer::kAbove;
}

std::optional<std::int64_t> BettingTest::Floor(double bound, double error_rate) {
  constexpr std::int64_t kMost = 10'000'000;
  BettingTest test(bound, error_rate);
  while (test.answer() == Answer::kOpen) {
    if (test.count() == kMost) return std::nullopt;
    test.Add(0);
  }
  return test.count();
}

}  // namespace throttletest::internal
