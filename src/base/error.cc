#include "throttletest/base/error.h"

namespace throttletest {

const char* ErrorCodeName(ErrorCode code) {
  switch (code) {
    case ErrorCode::kInvalidArgument:
      return "invalid_argument";
    case ErrorCode::kUnsupported:
      return "unsupported";
    case ErrorCode::kPermission:
      return "permission";
    case ErrorCode::kNoContainerRuntime:
      return "no_container_runtime";
    case ErrorCode::kServiceStart:
      return "service_start";
    case ErrorCode::kNotReady:
      return "not_ready";
    case ErrorCode::kCgroup:
      return "cgroup";
    case ErrorCode::kParse:
      return "parse";
    case ErrorCode::kLoad:
      return "load";
    case ErrorCode::kInterrupted:
      return "interrupted";
  }
  return "unknown";
}

}  // namespace throttletest
