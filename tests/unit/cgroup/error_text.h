// ErrorText: runs something that must throw throttletest::Error and hands over its message.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "throttletest/base/error.h"

namespace throttletest {

template <typename F>
std::string ErrorText(ErrorCode code, F run) {
  try {
    run();
  } catch (const Error& e) {
    EXPECT_STREQ(ErrorCodeName(e.code()), ErrorCodeName(code)) << e.what();
    return e.what();
  }
  ADD_FAILURE() << "nothing was thrown";
  return {};
}

}  // namespace throttletest
