// Refusal: runs something that must refuse its input and hands over the message.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "throttletest/base/error.h"

namespace throttletest::testing_support {

template <typename F>
std::string Refusal(F run) {
  try {
    run();
  } catch (const Error& e) {
    EXPECT_STREQ(ErrorCodeName(e.code()), ErrorCodeName(ErrorCode::kInvalidArgument)) << e.what();
    return e.what();
  }
  ADD_FAILURE() << "nothing was refused";
  return {};
}

// Without the folder of the test, so that messages can be compared.
inline std::string Without(std::string text, const std::string& folder) {
  for (std::size_t at = text.find(folder); at != std::string::npos; at = text.find(folder)) {
    text.erase(at, folder.size());
  }
  return text;
}

}  // namespace throttletest::testing_support
