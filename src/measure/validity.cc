#include "throttletest/measure/validity.h"

#include <fmt/format.h>

#include <algorithm>

#include "throttletest/base/duration.h"
#include "throttletest/base/error.h"

namespace throttletest {
namespace {

template <typename T>
void Require(bool possible, const char* name, const T& value, const char* range) {
  if (possible) return;
  throw Error(ErrorCode::kInvalidArgument,
              fmt::format("{} {} is not possible: it must be {}", name, value, range));
}

void RequireShare(const char* name, double share) {
  Require(share >= 0 && share <= 1, name, share, "from 0 to 1");
}

}  // namespace

std::chrono::nanoseconds DefaultStartLagBound(
    std::optional<std::chrono::nanoseconds> median_response_time) {
  constexpr std::chrono::nanoseconds kLeast = std::chrono::milliseconds(25);
  return std::max(kLeast, median_response_time.value_or(kLeast) / 10);
}

void Validate(const ValidityBounds& bounds) {
  if (bounds.start_lag_p99) {
    Require(bounds.start_lag_p99->count() >= 0, "start_lag_p99",
            throttletest::ToString(*bounds.start_lag_p99), "0 or more");
  }
  Require(bounds.min_periods >= 1, "min_periods", bounds.min_periods, "1 or more");
  RequireShare("max_steal", bounds.max_steal);
  RequireShare("max_others_cpu", bounds.max_others_cpu);
  Require(bounds.max_own_throttled_periods >= 0, "max_own_throttled_periods",
          bounds.max_own_throttled_periods, "0 or more");
}

const char* ValidityGateName(ValidityGate gate) {
  switch (gate) {
    case ValidityGate::kStartLag:
      return "start_lag";
    case ValidityGate::kNotSent:
      return "not_sent";
    case ValidityGate::kServiceGone:
      return "service_gone";
    case ValidityGate::kMoved:
      return "moved";
    case ValidityGate::kLimitChanged:
      return "limit_changed";
    case ValidityGate::kIdentityChanged:
      return "identity_changed";
    case ValidityGate::kCountersBackwards:
      return "counters_backwards";
    case ValidityGate::kSteal:
      return "steal";
    case ValidityGate::kHostBusy:
      return "host_busy";
    case ValidityGate::kOwnThrottled:
      return "own_throttled";
    case ValidityGate::kUnseenLimit:
      return "unseen_limit";
    case ValidityGate::kBackgroundLoad:
      return "background_load";
    case ValidityGate::kInterrupted:
      return "interrupted";
  }
  return "unknown";
}

std::string Validity::ToString() const {
  std::string text;
  for (const ValidityFault& fault : faults) {
    if (!text.empty()) text += "; ";
    text += fault.text;
  }
  return text;
}

}  // namespace throttletest
