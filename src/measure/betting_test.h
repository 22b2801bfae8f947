// BettingTest: is the mean of a series below a bound or above it? It may be asked after every
// observation and still errs no more often than was agreed.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

namespace throttletest::internal {

// Two gamblers bet against "the mean is not below the bound" and against "it is not above". While
// such a claim is true, no way of betting on it can be expected to win money, so a fortune of
// 1 / error_rate is as rare as error_rate, however often one looks (Ville's inequality). Nothing is
// assumed of the observations but their range and that the claim holds for each one given those
// before it; in particular no distribution, and what happens inside one observation may be as
// correlated as it likes.
// Source: I. Waudby-Smith, A. Ramdas, "Estimating means of bounded random variables by betting",
// J. R. Stat. Soc. B 86 (2024); the fortune here is a fixed mixture of constant stakes.
class BettingTest {
 public:
  enum class Answer { kOpen, kBelow, kAbove };

  // Units: 0 < bound < 1; 0 < error_rate < 1, for each of the two answers.
  BettingTest(double bound, double error_rate);

  // Units: 0..1. Once it has an answer it keeps it.
  void Add(double observation);
  Answer answer() const { return answer_; }
  std::int64_t count() const { return count_; }

  // The observations needed for kBelow when all of them are 0: the fewest. Absent: more than ten
  // million, which no run has.
  static std::optional<std::int64_t> Floor(double bound, double error_rate);

 private:
  // A share of the fortune that stakes the same part of itself, of all it may, every time.
  struct Account {
    double stake;
    double money;
  };

  const double bound_;
  const double target_;
  std::array<Account, 3> below_;
  std::array<Account, 6> above_;
  Answer answer_ = Answer::kOpen;
  std::int64_t count_ = 0;
};

}  // namespace throttletest::internal
