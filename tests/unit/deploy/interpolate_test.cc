#include "deploy/interpolate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "refusal.h"

namespace throttletest::internal {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing_support::Refusal;

std::optional<std::string> Variable(const std::string& name) {
  const std::map<std::string, std::string> set = {
      {"SET", "2"}, {"EMPTY", ""}, {"OTHER", "other"}, {"_x9", "low"}};
  const auto at = set.find(name);
  return at == set.end() ? std::nullopt : std::optional(at->second);
}

std::string Replaced(std::string_view text) { return Interpolate(text, Variable).text; }

struct Case {
  const char* name;
  const char* text;
  const char* replaced;
};
void PrintTo(const Case& c, std::ostream* os) { *os << c.text; }

class InterpolateEach : public testing::TestWithParam<Case> {};

TEST_P(InterpolateEach, GivesWhatComposeGives) {
  EXPECT_EQ(Replaced(GetParam().text), GetParam().replaced);
}

INSTANTIATE_TEST_SUITE_P(Expressions, InterpolateEach,
                         testing::ValuesIn(std::vector<Case>{
                             {"Plain", "no variable", "no variable"},
                             {"Bare", "$SET", "2"},
                             {"BareEndsAtAnotherCharacter", "$SET.5/$_x9-", "2.5/low-"},
                             {"Braced", "a${SET}b", "a2b"},
                             {"Unset", "[${NONE}]", "[]"},
                             {"DefaultOfSet", "${SET:-1}", "2"},
                             {"DefaultOfUnset", "${NONE:-1}", "1"},
                             {"DefaultOfEmpty", "${EMPTY:-1}", "1"},
                             {"HardDefaultOfEmpty", "[${EMPTY-1}]", "[]"},
                             {"HardDefaultOfUnset", "${NONE-1}", "1"},
                             {"DefaultMayHoldAnything", "${NONE:-a-b:?c+d}", "a-b:?c+d"},
                             {"RequiredIsThere", "${SET:?why}", "2"},
                             {"RequiredMayBeEmpty", "[${EMPTY?why}]", "[]"},
                             {"AlternativeOfSet", "${SET:+yes}", "yes"},
                             {"AlternativeOfEmpty", "[${EMPTY:+yes}]", "[]"},
                             {"HardAlternativeOfEmpty", "${EMPTY+yes}", "yes"},
                             {"AlternativeOfUnset", "[${NONE+yes}]", "[]"},
                             {"Nested", "${NONE:-${SET}}", "2"},
                             {"NestedTwice", "${NONE:-${EMPTY:-${OTHER}}}!", "other!"},
                             {"NestedBare", "${NONE:-$OTHER}", "other"},
                             {"WhatIsNotTakenIsNotLookedAt", "${SET:-${NONE:?why}}", "2"},
                             {"Escaped", "$$SET ${NONE:-$$5}", "$SET $5"},
                             {"EscapedBrace", "$${SET}", "${SET}"},
                             {"EscapedInADefault", "${NONE:-$${x}", "${x"},
                             {"NoVariable", "$5 $ a$", "$5 $ a$"},
                         }),
                         [](const auto& row) { return std::string(row.param.name); });

TEST(Interpolate, TellsWhatHadNoValue) {
  EXPECT_THAT(Interpolate("${NONE} $ALSO ${NONE:-1} ${SET}", Variable).unset,
              ElementsAre("NONE", "ALSO"));
}

TEST(Interpolate, RefusesWhatIsNoExpression) {
  EXPECT_EQ(Refusal([] { Replaced("a ${SET"); }), "\"${SET\" has no closing brace");
  for (const char* bad : {"${SET/a/b}", "${}", "${5}", "${SET:}", "${SET:=1}", "${#SET}"}) {
    EXPECT_THAT(Refusal([&] { Replaced(bad); }), HasSubstr("is no variable Compose knows")) << bad;
  }
}

TEST(Interpolate, SaysWhyAVariableIsNeeded) {
  EXPECT_EQ(
      Refusal([] { Replaced("${NONE:?set it to $OTHER}"); }),
      "\"${NONE:?set it to $OTHER}\" needs the variable NONE, which is not set: set it to other");
  EXPECT_EQ(Refusal([] { Replaced("${EMPTY:?}"); }),
            "\"${EMPTY:?}\" needs the variable EMPTY, which is empty");
}

std::map<std::string, std::string> Read(const char* text) {
  return ParseDotEnv(text, ".env", Variable);
}

TEST(ParseDotEnv, ReadsValuesCommentsAndQuotes) {
  const auto values = Read(
      "# sizes\r\n"
      "\n"
      "PLAIN=1.5\r\n"
      "export EXPORTED = two words  # told\n"
      "HASH=a#b\n"
      "NOTHING=\n"
      "ONLY_A_NAME\n"
      "SINGLE='$SET # kept'\n"
      "DOUBLE=\"a\\tb \\\"${SET}\\\"\" # told\n"
      "LINES=\"one\ntwo\"\n"
      "with.dots-and=dashes\n"
      "COLON: 3");
  const std::map<std::string, std::string> expected = {
      {"PLAIN", "1.5"},      {"EXPORTED", "two words"},   {"HASH", "a#b"},
      {"NOTHING", ""},       {"SINGLE", "$SET # kept"},   {"DOUBLE", "a\tb \"2\""},
      {"LINES", "one\ntwo"}, {"with.dots-and", "dashes"}, {"COLON", "3"}};
  EXPECT_EQ(values, expected);
}

TEST(ParseDotEnv, ReplacesFromTheEnvironmentBeforeTheLinesAbove) {
  const auto values = Read("SET=9\nABOVE=1\nSUM=$SET-$ABOVE-${LATER:-none}\nLATER=3\n");
  EXPECT_EQ(values.at("SUM"), "2-1-none");
}

TEST(ParseDotEnv, RefusesWithTheLine) {
  EXPECT_EQ(Refusal([] { Read("A=1\n=2\n"); }), ".env:2: \"=2\" is not NAME=value");
  EXPECT_EQ(Refusal([] { Read("A=1\nB 2\n"); }), ".env:2: \"B2\" is not NAME=value");
  EXPECT_EQ(Refusal([] { Read("A=1\nB=\"x\ny\n"); }), ".env:2: a quote that is not closed");
  EXPECT_EQ(Refusal([] { Read("A='1' 2\n"); }), ".env:1: \"2\" after the closing quote");
  EXPECT_EQ(Refusal([] { Read("\nA=${B\n"); }), ".env:2: \"${B\" has no closing brace");
}

}  // namespace
}  // namespace throttletest::internal
