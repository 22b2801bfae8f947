// FailuresOf: what a statement reports as failures, without failing the test.
#pragma once

#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace throttletest::testing_support {

template <typename Statement>
std::vector<std::string> FailuresOf(Statement statement) {
  testing::TestPartResultArray results;
  {
    testing::ScopedFakeTestPartResultReporter reporter(
        testing::ScopedFakeTestPartResultReporter::INTERCEPT_ONLY_CURRENT_THREAD, &results);
    statement();
  }
  std::vector<std::string> texts;
  for (int i = 0; i < results.size(); ++i) {
    texts.emplace_back(results.GetTestPartResult(i).message());
  }
  return texts;
}

}  // namespace throttletest::testing_support
