#include "cli/exit_status.h"

namespace throttletest::cli {

ExitStatus StatusOf(ErrorCode code) {
  switch (code) {
    case ErrorCode::kInvalidArgument:
      return kUsage;
    case ErrorCode::kInterrupted:
      return kInterrupted;
    case ErrorCode::kLoad:
    case ErrorCode::kParse:
      return kOwnError;
    default:
      return kCannotMeasure;
  }
}

}  // namespace throttletest::cli
