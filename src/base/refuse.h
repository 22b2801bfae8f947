// Refuse: the one way to say that an argument is not possible.
#pragma once

#include <string>

#include "throttletest/base/error.h"

namespace throttletest::internal {

// The message quotes the value and says what would do.
[[noreturn]] inline void Refuse(const std::string& message) {
  throw Error(ErrorCode::kInvalidArgument, message);
}

}  // namespace throttletest::internal
