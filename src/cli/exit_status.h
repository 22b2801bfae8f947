// Exit statuses of the command. Documented in README.md and `throttletest --help`; scripts rely on
// them.
#pragma once

#include "throttletest/base/error.h"

namespace throttletest::cli {

enum ExitStatus : int {
  kBudgetsMet = 0,
  kBudgetMissed = 1,
  kUsage = 2,
  kInconclusive = 3,
  kCannotMeasure = 4,  // the machine lacks something, or the service did not start; `clean`:
                       // something is left
  kOwnError = 5,       // throttletest itself failed
  kInterrupted = 130,  // 128 + SIGINT, as shells expect
};

// Usage for kInvalidArgument, interrupted for kInterrupted, own error for kLoad and kParse, else
// "cannot measure".
ExitStatus StatusOf(ErrorCode code);

}  // namespace throttletest::cli
