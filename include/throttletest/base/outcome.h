// Outcome<T>: a figure that is a value, not available, or inconclusive - never a silent zero.
//
//   Outcome<double> ratio = delta.throttle_ratio;
//   if (ratio.has_value()) Use(ratio.value()); else std::cout << ratio.reason();
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "throttletest/base/error.h"

namespace throttletest {

enum class OutcomeKind {
  kValue,         // measured and trusted
  kNotAvailable,  // the kernel or engine does not say
  kInconclusive,  // measured, but the figure cannot be trusted
};

// A figure with its three possible states. A state without a value always has a reason.
template <typename T>
class Outcome {
 public:
  // Default: not available, "not measured".
  Outcome() : reason_("not measured") {}

  static Outcome Value(T value) {
    Outcome o;
    o.kind_ = OutcomeKind::kValue;
    o.value_ = std::move(value);
    o.reason_.clear();
    return o;
  }
  static Outcome NotAvailable(const std::string& reason) {
    Outcome o;
    o.reason_ = reason;
    return o;
  }
  static Outcome Inconclusive(const std::string& reason) {
    Outcome o;
    o.kind_ = OutcomeKind::kInconclusive;
    o.reason_ = reason;
    return o;
  }

  OutcomeKind kind() const { return kind_; }
  bool has_value() const { return kind_ == OutcomeKind::kValue; }

  // The value. Errors: kInvalidArgument with the reason when there is none.
  const T& value() const {
    if (!has_value()) throw Error(ErrorCode::kInvalidArgument, "no value: " + reason_);
    return *value_;
  }
  // The value as an optional, for code that prints "-" or null for any other state.
  const std::optional<T>& optional() const { return value_; }

  // Why there is no value. Empty when there is one.
  const std::string& reason() const { return reason_; }

  // The same state and reason for another type; only for outcomes without a value.
  template <typename U>
  Outcome<U> As() const {
    return kind_ == OutcomeKind::kInconclusive ? Outcome<U>::Inconclusive(reason_)
                                               : Outcome<U>::NotAvailable(reason_);
  }

  friend bool operator==(const Outcome&, const Outcome&) = default;

 private:
  OutcomeKind kind_ = OutcomeKind::kNotAvailable;
  std::optional<T> value_;
  std::string reason_;
};

}  // namespace throttletest
