#include <gtest/gtest.h>

#include "fuzz/control_files_probe.h"
#include "fuzz/corpus.h"

namespace throttletest::testing_support {
namespace {

TEST(ControlFilesCorpus, WhatTheFuzzerFoundHoldsItsProperties) {
  const auto inputs = Corpus("control_files");
  EXPECT_GT(inputs.size(), 10u);
  for (const auto& [name, input] : inputs) {
    EXPECT_NO_THROW(ProbeControlFiles(input)) << name;
  }
}

}  // namespace
}  // namespace throttletest::testing_support
