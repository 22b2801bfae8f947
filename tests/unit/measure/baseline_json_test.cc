#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "support/measurement_builder.h"
#include "support/temp_tree.h"
#include "throttletest/base/error.h"
#include "throttletest/measure/baseline.h"

namespace throttletest {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing_support::MeasurementBuilder;
using testing_support::TempTree;
using namespace std::chrono_literals;

constexpr const char* kDocument = R"({
  "schema": "throttletest/baselines/1",
  "baselines": {
    "burst": [
      {
        "environment": {
          "cgroup_mode": "v2",
          "cpu_model": "Test CPU",
          "kernel": "6.1.0-test",
          "launcher": "cgroup",
          "online_cpus": "8"
        },
        "plan": "8 requests in 20 batches",
        "request": "GET /burn?ms=20",
        "limits": {"cpus": "2", "period": "100 ms"},
        "runs": [
          {"date": "2026-01-01T00:00:00Z", "p50_ms": 30.000, "p90_ms": 30.000, "p99_ms": 30.000, "throttle_ratio": 0.0000, "batch_cpu_ms": null, "error_ratio": 0.0000},
          {"date": "2026-01-01T00:00:00Z", "p50_ms": 30.000, "p90_ms": 30.000, "p99_ms": 30.000, "throttle_ratio": 0.2500, "batch_cpu_ms": null, "error_ratio": 0.0000}
        ]
      }
    ]
  }
}
)";

std::string With(const std::string& what, const std::string& instead) {
  std::string text = kDocument;
  const std::size_t at = text.find(what);
  EXPECT_NE(at, std::string::npos) << what;
  return text.replace(at, what.size(), instead);
}

std::string ParseFailure(const std::string& text) {
  try {
    ParseBaselines(text, "dir/file.json");
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::kParse);
    EXPECT_THAT(e.what(), AllOf(HasSubstr("baseline file dir/file.json cannot be used: "),
                                HasSubstr("left as it is")));
    return e.what();
  }
  return "no error";
}

TEST(BaselineJson, WritesSortedOneRunALine) {
  BaselineFile file;
  AddBaselineRun(file, "burst", MeasurementBuilder().Build());
  AddBaselineRun(file, "burst", MeasurementBuilder().Throttled(200, 50, 1s).Build());
  EXPECT_EQ(ToJson(file), kDocument);
}

TEST(BaselineJson, ReadsWhatItWrote) {
  const BaselineFile file = ParseBaselines(kDocument, "dir/file.json");
  EXPECT_EQ(file.path, "dir/file.json");
  const BaselineRuns& group = file.baselines.at("burst").at(0);
  EXPECT_EQ(group.environment.at("kernel"), "6.1.0-test");
  EXPECT_EQ(group.limits.at("cpus"), "2");
  EXPECT_EQ(group.runs.at(1).figures.at(RunFigure::kThrottleRatio).value(), 0.25);
  EXPECT_FALSE(group.runs.at(1).figures.at(RunFigure::kBatchCpu).has_value());
  EXPECT_EQ(ToJson(file), kDocument);
}

TEST(BaselineJson, EscapesNames) {
  BaselineFile file;
  AddBaselineRun(file, "a \"b\"\n\xff", MeasurementBuilder().Build());
  AddBaselineRun(file, "a", MeasurementBuilder().Build());
  const BaselineFile again = ParseBaselines(ToJson(file), "f");
  EXPECT_EQ(again.baselines.size(), 2U);
  EXPECT_EQ(ToJson(again), ToJson(file));
}

TEST(BaselineJson, HasNoBaselinesWithoutAFile) {
  const TempTree tree;
  EXPECT_TRUE(ReadBaselines(tree.Path("none.json")).baselines.empty());
  EXPECT_EQ(ReadBaselines(tree.Path("none.json")).path, tree.Path("none.json"));
}

TEST(BaselineJson, ReadsAFile) {
  const TempTree tree;
  tree.Write("some.json", kDocument);
  EXPECT_EQ(ReadBaselines(tree.Path("some.json")).baselines.size(), 1U);
}

TEST(BaselineJson, RefusesWhatIsNoFileOrEmpty) {
  const TempTree tree;
  tree.Mkdir("folder");
  tree.Write("empty.json", "");
  EXPECT_THROW(ReadBaselines(tree.Path("folder")), Error);
  EXPECT_THROW(ReadBaselines(tree.Path("empty.json")), Error);
  EXPECT_THROW(ReadBaselines(tree.Path("empty.json/file")), Error);
}

TEST(BaselineJson, QuotesTheLineThatIsNoJson) {
  EXPECT_THAT(ParseFailure(With("\"plan\": ", "<<<<<<< ours ")),
              AllOf(HasSubstr("not JSON at line 13"), HasSubstr("<<<<<<< ours")));
  EXPECT_THAT(ParseFailure("{"), HasSubstr("line 1"));
}

struct BadCase {
  const char* name;
  const char* what;
  const char* instead;
  const char* told;
};

class BadBaselines : public testing::TestWithParam<BadCase> {};

TEST_P(BadBaselines, AreRefusedWithTheirPlace) {
  EXPECT_THAT(ParseFailure(With(GetParam().what, GetParam().instead)), HasSubstr(GetParam().told));
}

INSTANTIATE_TEST_SUITE_P(
    All, BadBaselines,
    testing::Values(
        BadCase{"Schema", "baselines/1", "baselines/2",
                "its schema is \"throttletest/baselines/2\""},
        BadCase{"NoSchema", "\"schema\": \"throttletest/baselines/1\",", "",
                "the document has no \"schema\""},
        BadCase{"UnknownKey", "\"plan\"", "\"comment\": \"mine\", \"plan\"",
                "baselines.burst[0] has an unknown key \"comment\""},
        BadCase{"RepeatedKey", "\"plan\"", "\"plan\": \"x\", \"plan\"", "\"plan\" occurs twice"},
        BadCase{"RepeatedName", "\"burst\"", "\"burst\": [], \"burst\"", "\"burst\" occurs twice"},
        BadCase{"Text", "\"GET /burn?ms=20\"", "7", "baselines.burst[0].request is not a text"},
        BadCase{"Field", "\"kernel\": \"6.1.0-test\",", "",
                "baselines.burst[0].environment has no \"kernel\""},
        BadCase{"Number", "\"p50_ms\": 30.000", "\"p50_ms\": \"30\"",
                "baselines.burst[0].runs[0].p50_ms is not a number"},
        BadCase{"Negative", "\"p50_ms\": 30.000", "\"p50_ms\": -1",
                "baselines.burst[0].runs[0].p50_ms is not a number of 0 or more"},
        BadCase{"RatioAboveOne", "\"throttle_ratio\": 0.2500", "\"throttle_ratio\": 7",
                "baselines.burst[0].runs[1].throttle_ratio is not from 0 to 1"},
        BadCase{"NoFigure", "\"p50_ms\": 30.000, ", "", "runs[0] has no \"p50_ms\""},
        BadCase{"List", "\"runs\": [", "\"runs\": {}, \"limits2\": [", "unknown key"},
        BadCase{"Object", "\"limits\": {\"cpus\": \"2\", \"period\": \"100 ms\"}", "\"limits\": []",
                "baselines.burst[0].limits is not an object"}),
    [](const auto& test) { return std::string(test.param.name); });

TEST(BaselineJson, RefusesTwoGroupsOfOneEnvironment) {
  BaselineFile file = ParseBaselines(kDocument, "f");
  file.baselines.at("burst").push_back(file.baselines.at("burst")[0]);
  EXPECT_THAT(ParseFailure(ToJson(file)), HasSubstr("burst[1] has the environment of another"));
}

TEST(BaselineJson, RefusesAWrongNumberOfRuns) {
  BaselineFile file = ParseBaselines(kDocument, "f");
  auto& runs = file.baselines.at("burst")[0].runs;
  runs.resize(11, runs[0]);
  EXPECT_THAT(ParseFailure(ToJson(file)), HasSubstr("has 11 runs, possible are 1 to 10"));
  runs.clear();
  EXPECT_THAT(ParseFailure(ToJson(file)), HasSubstr("has 0 runs"));
}

}  // namespace
}  // namespace throttletest
