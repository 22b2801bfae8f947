#include "throttletest/report/json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "support/measurement_builder.h"

namespace throttletest {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;
using testing_support::MeasurementBuilder;
using namespace std::chrono_literals;

json Parsed(const Measurement& m, const std::vector<BudgetResult>& verdicts = {}) {
  return json::parse(ToJson(m, verdicts));
}

// Every null outside of tables must have its reason.
void ExpectReasons(const json& doc, const json& value, const std::string& path) {
  if (value.is_null()) {
    EXPECT_TRUE(doc["not_available"].contains(path)) << path << " is null without a reason";
    return;
  }
  if (value.is_object()) {
    for (const auto& item : value.items()) {
      if (item.key() == "rows") continue;
      ExpectReasons(doc, item.value(), path.empty() ? item.key() : path + "." + item.key());
    }
  } else if (value.is_array()) {
    for (std::size_t i = 0; i < value.size(); ++i) {
      ExpectReasons(doc, value[i], path + "[" + std::to_string(i) + "]");
    }
  }
}

TEST(ToJson, C019TellsTwoKernelsApart) {
  Measurement m = MeasurementBuilder().Quota(100ms).Throttled(200, 4, 1s).Build();
  m.environment.kernel = "6.1.0-test";
  const json old_kernel = Parsed(m);
  m.environment.kernel = "6.7.0-test";
  const json new_kernel = Parsed(m);
  EXPECT_EQ(old_kernel["environment"]["kernel"], "6.1.0-test");
  EXPECT_EQ(new_kernel["environment"]["kernel"], "6.7.0-test");
}

TEST(ToJson, HasTheFieldsThatScriptsReadWithTheirUnits) {
  const Measurement m = MeasurementBuilder()
                            .Quota(100ms)
                            .Throttled(277, 77, 30s)
                            .Usage(4s)
                            .BatchCpu(164ms)
                            .ThrottleAt(3, 100ms)
                            .Fail(5, 500, 2ms, "HTTP 500")
                            .TimeOut(6, 1s)
                            .OwnThrottled(0)
                            .Threads(11)
                            .Build();
  const json doc = Parsed(m, {ParseBudget("p50<150ms").Evaluate(m)});
  EXPECT_EQ(doc["schema"], "throttletest/run/1");
  EXPECT_EQ(doc["environment"]["kernel"], "6.1.0-test");
  EXPECT_EQ(doc["environment"]["cgroup_mode"], "v2");
  EXPECT_EQ(doc["launcher"], "cgroup");
  EXPECT_EQ(doc["limits"]["requested"]["quota_us"], 100'000);
  EXPECT_EQ(doc["limits"]["requested"]["cpus"], 1.0);
  EXPECT_EQ(doc["limits"]["effective"]["cpus"], 1.0);
  EXPECT_EQ(doc["limits"]["effective"]["source"], "quota");
  EXPECT_EQ(doc["limits"]["effective"]["path"], "/svc");
  EXPECT_EQ(doc["cpu"]["nr_periods"], 277);
  EXPECT_EQ(doc["cpu"]["nr_throttled"], 77);
  EXPECT_NEAR(doc["cpu"]["throttle_ratio"].get<double>(), 0.278, 0.001);
  EXPECT_EQ(doc["cpu"]["throttled_ns"], 30'000'000'000);
  EXPECT_EQ(doc["cpu"]["usage_ns"], 4'000'000'000);
  EXPECT_EQ(doc["cpu"]["usage_cores"], 0.2);
  EXPECT_EQ(doc["cpu"]["levels"][0]["path"], "/svc");
  EXPECT_EQ(doc["memory"]["peak_bytes"], 64 << 20);
  EXPECT_EQ(doc["memory"]["peak_is_of_window"], true);
  EXPECT_EQ(doc["memory"]["sampled_peak_bytes"], 48 << 20);
  EXPECT_EQ(doc["load"]["planned"], 160);
  EXPECT_EQ(doc["load"]["ok"], 158);
  EXPECT_EQ(doc["load"]["failed"], 1);
  EXPECT_EQ(doc["load"]["timed_out"], 1);
  EXPECT_EQ(doc["load"]["not_sent"], 0);
  EXPECT_EQ(doc["load"]["failure_reasons"]["HTTP 500"], 1);
  EXPECT_EQ(doc["response_ms"]["p50"], 30.0);
  EXPECT_EQ(doc["response_ms"]["samples"], 160);
  EXPECT_EQ(doc["service_ms"]["p90"], 30.0);
  EXPECT_EQ(doc["start_lag_ms"]["max"], 0.0);
  EXPECT_EQ(doc["batch_order_median_ms"].size(), 8U);
  EXPECT_EQ(doc["median_batch_cpu_ns"], 164'000'000);
  EXPECT_EQ(doc["host"]["others_cpu"], 0.01);
  EXPECT_EQ(doc["host"]["steal"], 0.0);
  EXPECT_EQ(doc["host"]["own_throttled_periods"], 0);
  EXPECT_EQ(doc["host"]["own_quota"], "/ci/job (50 ms per 100 ms (0.5 CPUs))");
  EXPECT_EQ(doc["service"]["threads"], 11);
  EXPECT_EQ(doc["service"]["name"], "");
  EXPECT_EQ(doc["validity"]["bounds"]["max_steal"], 0.05);
  EXPECT_EQ(doc["validity"]["bounds"]["max_others_cpu"], 0.25);
  EXPECT_EQ(doc["validity"]["bounds"]["max_own_throttled_periods"], 0);
  EXPECT_EQ(doc["validity"]["status"], "trusted");
  EXPECT_EQ(doc["verdicts"][0]["budget"], "p50<150ms");
  EXPECT_EQ(doc["verdicts"][0]["verdict"], "met");
  EXPECT_EQ(doc["verdicts"][0]["value"], 30.0);
  EXPECT_EQ(doc["verdicts"][0]["unit"], "ms");
  EXPECT_EQ(doc["verdicts"][0]["interval"]["low"], 30.0);
  EXPECT_EQ(doc["verdicts"][0]["interval"]["high"], 30.0);
  EXPECT_EQ(doc["verdicts"][0]["interval"]["confidence"], 0.95);
  EXPECT_EQ(doc["verdicts"][0]["interval"]["method"], "woodruff");
  EXPECT_EQ(doc["verdicts"][0]["interval"]["units"], 20);
  EXPECT_EQ(doc["verdicts"][0]["interval"]["unit_name"], "batches");
  EXPECT_EQ(doc["attempt"], 1);
  ExpectReasons(doc, doc, "");
}

TEST(ToJson, HasNullWithAReasonForAnIntervalOrAnEndThatIsNotThere) {
  const Measurement m = MeasurementBuilder().Build();
  const json doc = Parsed(
      m, {ParseBudget("p99<150ms").Evaluate(m), ParseBudget("failed_requests<=0").Evaluate(m),
          ParseBudget("p99.9<150ms").Evaluate(m)});
  EXPECT_TRUE(doc["verdicts"][0]["interval"]["high"].is_null());
  EXPECT_EQ(doc["verdicts"][0]["interval"]["needed_requests"], 419);
  EXPECT_THAT(doc["not_available"]["verdicts[0].interval.high"].get<std::string>(),
              HasSubstr("too few requests"));
  EXPECT_TRUE(doc["verdicts"][1]["interval"].is_null());
  EXPECT_EQ(doc["not_available"]["verdicts[2].interval"], "the verdict is inconclusive");
  ExpectReasons(doc, doc, "");
}

TEST(ToJson, HasNullWithAReasonAndNeverZeroWithoutAQuota) {
  const json doc = Parsed(MeasurementBuilder().NoQuota().Build());
  for (const char* field : {"nr_periods", "nr_throttled", "throttle_ratio", "throttled_ns",
                            "throttled_per_second", "judged_path"}) {
    EXPECT_TRUE(doc["cpu"][field].is_null()) << field;
    EXPECT_EQ(doc["not_available"][std::string("cpu.") + field], "no CPU quota in force");
  }
  EXPECT_TRUE(doc["limits"]["requested"]["cpus"].is_null());
  EXPECT_EQ(doc["not_available"]["limits.requested.cpus"], "not requested");
  EXPECT_TRUE(doc["limits"]["effective"]["quota_us"].is_null());
  EXPECT_EQ(doc["cpu"]["usage_ns"], 4'000'000'000);
  ExpectReasons(doc, doc, "");
}

TEST(ToJson, TellsWhatCannotBeSeenAndHowLongItHeld) {
  const json seen = Parsed(MeasurementBuilder().Build());
  EXPECT_TRUE(seen["limits"]["effective"]["unseen"].is_null());
  EXPECT_TRUE(seen["cpu"]["weight"].is_null());
  MeasurementBuilder b;
  b.BelowUnseen(80ms, 70ms).inputs().after->cpu_weight = 39;
  const json doc = Parsed(b.Build());
  EXPECT_EQ(doc["limits"]["effective"]["unseen"], "the levels above /sys/fs/cgroup");
  EXPECT_EQ(doc["cpu"]["held_by_unseen_ns"], 80'000'000);
  EXPECT_EQ(doc["cpu"]["weight"], 39);
  EXPECT_EQ(doc["host"]["own_held_by_unseen_ns"], 70'000'000);
  EXPECT_EQ(doc["validity"]["reasons"][0]["gate"], "unseen_limit");
  ExpectReasons(doc, doc, "");
}

TEST(ToJson, WhatWasFoundIsNotSaidToHaveBeenAskedFor) {
  const json doc = Parsed(MeasurementBuilder().Quota(100ms).Attached().Build());
  ExpectReasons(doc, doc, "");
  EXPECT_EQ(doc["launcher"], "attached");
  EXPECT_EQ(doc["launcher_version"], "docker container web");
  EXPECT_EQ(doc["command"], json::array());
  EXPECT_EQ(doc["limits"]["requested"]["text"], "found: CPU 100 ms per 100 ms (1.0 CPUs)");
  EXPECT_TRUE(doc["limits"]["requested"]["quota_us"].is_null());
  EXPECT_EQ(doc["not_available"]["limits.requested.quota_us"],
            "not requested: the service was attached to");
  EXPECT_EQ(doc["limits"]["effective"]["quota_us"], 100'000);
}

TEST(ToJson, HasNullWithAReasonForAnInfinitePercentile) {
  MeasurementBuilder b;
  b.Responses({10ms, 20ms}).TimeOut(1, 1s);
  const json doc = Parsed(b.Build());
  EXPECT_EQ(doc["response_ms"]["p50"], 10.0);
  EXPECT_TRUE(doc["response_ms"]["p99"].is_null());
  EXPECT_THAT(doc["not_available"]["response_ms.p99"].get<std::string>(), HasSubstr("no answer"));
  EXPECT_EQ(doc["response_ms"]["too_few_samples_for"], json({"p90", "p95", "p99", "p999"}));
  EXPECT_TRUE(doc["batch_order_median_ms"][1].is_null());
  ExpectReasons(doc, doc, "");
}

TEST(ToJson, TellsWhyARunIsInconclusive) {
  MeasurementBuilder b;
  b.inputs().after.reset();
  b.inputs().after_error = "cgroup is gone";
  b.inputs().alive = false;
  b.inputs().trouble = "OOM-killed (1 kill)";
  const Measurement m = b.Build();
  const json doc = Parsed(m, {ParseBudget("throttle_ratio<0.5").Evaluate(m)});
  EXPECT_EQ(doc["validity"]["status"], "inconclusive");
  EXPECT_EQ(doc["validity"]["reasons"][0]["gate"], "service_gone");
  EXPECT_THAT(doc["validity"]["reasons"][0]["text"].get<std::string>(), HasSubstr("OOM-killed"));
  EXPECT_EQ(doc["verdicts"][0]["verdict"], "inconclusive");
  EXPECT_TRUE(doc["verdicts"][0]["value"].is_null());
  ExpectReasons(doc, doc, "");
}

TEST(ToJson, EscapesWhatTheServiceSaid) {
  MeasurementBuilder b;
  b.Fail(0, 500, 1ms, "bad \"header\"\n</script>\xff\x01");
  b.inputs().command = {"a\"b", "c\\d"};
  const std::string text = ToJson(b.Build(), {});
  const json doc = json::parse(text);
  EXPECT_EQ(doc["command"][0], "a\"b");
  EXPECT_THAT(doc["load"]["failure_reasons"].begin().key(), HasSubstr("bad \"header\"\n"));
  EXPECT_THAT(text, Not(HasSubstr("\xff")));
}

TEST(ToJson, HasOneLinePerRequestSampleAndBatch) {
  MeasurementBuilder b;
  b.Responses({10ms, 20ms}).BatchCpu(5ms).NotSent(1).StartLag(0, 1ms);
  const std::string text = ToJson(b.Build(), {});
  EXPECT_THAT(text, HasSubstr("\n      [0,1000000,10000000,0,0,200,\"ok\",false,false]"));
  EXPECT_THAT(text, HasSubstr("\n      [0,null,null,0,0,null,\"not_sent\",false,false]"));
  EXPECT_THAT(text, HasSubstr("\n  \"schema\": \"throttletest/run/1\""));
  EXPECT_TRUE(text.ends_with("}\n"));
  const json doc = json::parse(text);
  EXPECT_EQ(doc["requests"]["columns"].size(), doc["requests"]["rows"][0].size());
  EXPECT_EQ(doc["timeline"]["columns"].size(), doc["timeline"]["rows"][0].size());
  EXPECT_EQ(doc["batches"]["columns"].size(), doc["batches"]["rows"][0].size());
  // Counters count from the first sample, before the load began.
  EXPECT_EQ(doc["timeline"]["rows"][0][1], 0);
  EXPECT_EQ(doc["timeline"]["rows"].back()[1], 5'000'000);
}

TEST(ToJson, HasTheLinesThatDeclareTheLimits) {
  MeasurementBuilder b;
  EXPECT_EQ(Parsed(b.Build())["limits"]["requested"]["declared"], json::array());
  b.inputs().limits.origins = {{"compose.yaml", 4, "services.web.cpus", "0.5"}};
  EXPECT_EQ(Parsed(b.Build())["limits"]["requested"]["declared"],
            json::parse(R"([{"file": "compose.yaml", "line": 4, "key": "services.web.cpus",
                             "value": "0.5"}])"));
}

TEST(ToJson, SaysUnlimitedForMemoryThatWasAskedToBe) {
  MeasurementBuilder b;
  b.inputs().requested.memory = b.inputs().before.memory.limit = b.inputs().after->memory.limit =
      64_MiB;
  b.inputs().requested.memory_and_swap = ByteSize::Unlimited();
  const json doc = Parsed(b.Build());
  EXPECT_EQ(doc["limits"]["requested"]["memory_bytes"], 64 << 20);
  EXPECT_EQ(doc["limits"]["requested"]["memory_and_swap_bytes"], "unlimited");
}

}  // namespace
}  // namespace throttletest
