#include "throttletest/base/outcome.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace throttletest {
namespace {

TEST(Outcome, IsNotAvailableByDefault) {
  const Outcome<double> o;
  EXPECT_EQ(o.kind(), OutcomeKind::kNotAvailable);
  EXPECT_EQ(o.reason(), "not measured");
  EXPECT_FALSE(o.optional().has_value());
}

TEST(Outcome, GivesNoValueWithoutOne) {
  const auto o = Outcome<int>::Inconclusive("0 of 0 periods");
  try {
    o.value();
    FAIL();
  } catch (const Error& e) {
    EXPECT_THAT(e.what(), testing::HasSubstr("0 of 0 periods"));
  }
}

TEST(Outcome, KeepsStateAndReasonAcrossTypes) {
  EXPECT_EQ(Outcome<int>::Inconclusive("x").As<double>(), Outcome<double>::Inconclusive("x"));
  EXPECT_EQ(Outcome<int>::NotAvailable("y").As<double>(), Outcome<double>::NotAvailable("y"));
  EXPECT_EQ(Outcome<int>::Value(3).value(), 3);
}

}  // namespace
}  // namespace throttletest
