#include <gtest/gtest.h>

#include "fuzz/corpus.h"
#include "fuzz/http_reader_probe.h"

namespace throttletest::testing_support {
namespace {

TEST(HttpReaderCorpus, WhatTheFuzzerFoundHoldsItsProperties) {
  const auto inputs = Corpus("http_reader");
  EXPECT_GT(inputs.size(), 10u);
  for (const auto& [name, input] : inputs) {
    EXPECT_NO_THROW(ProbeHttpReader(input)) << name;
  }
}

}  // namespace
}  // namespace throttletest::testing_support
