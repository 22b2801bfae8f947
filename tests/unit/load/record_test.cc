#include "throttletest/load/record.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "load/tally.h"
#include "support/milliseconds.h"
#include "throttletest/base/error.h"

namespace throttletest {
namespace {

using namespace std::chrono_literals;
using internal::CountReason;
using internal::Tally;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::ThrowsMessage;
using testing_support::kMs;
using testing_support::L;

RequestRecord Record(RequestFate fate, std::int64_t response_ms, std::uint32_t batch = 0) {
  RequestRecord r;
  r.fate = fate;
  r.batch = batch;
  if (fate != RequestFate::kNotSent) {
    r.sent_ns = 0;
    r.done_ns = response_ms * kMs;
  }
  return r;
}

RequestRecord Ok(std::int64_t ms, std::uint32_t batch = 0) {
  return Record(RequestFate::kOk, ms, batch);
}
RequestRecord Failed(std::uint32_t batch = 0) { return Record(RequestFate::kFailed, 0, batch); }
RequestRecord TimedOut() { return Record(RequestFate::kTimedOut, 1000); }
RequestRecord NotSent(std::uint32_t batch = 0) { return Record(RequestFate::kNotSent, 0, batch); }

LoadResult Result(std::vector<RequestRecord> records) {
  LoadResult result;
  result.records = std::move(records);
  Tally(result);
  return result;
}

TEST(Records, TellWhatWasAnsweredWhileRequestsCame) {
  std::vector<RequestRecord> records;
  for (int i = 0; i < 11; ++i) {
    RequestRecord r = Ok(0);
    r.intended_ns = r.sent_ns = i * 100 * kMs;
    r.done_ns = (2 * i + 1) * 100 * kMs;  // half as fast as they come
    records.push_back(r);
  }
  const auto slow = Result(records).throughput();
  ASSERT_TRUE(slow.has_value());
  EXPECT_DOUBLE_EQ(slow->offered, 10);
  EXPECT_DOUBLE_EQ(slow->answered, 5);
  EXPECT_TRUE(slow->overloaded());
  for (RequestRecord& r : records) r.done_ns = r.intended_ns + 99 * kMs;
  EXPECT_FALSE(Result(records).throughput()->overloaded());
  // An error at once is no queue, and what was not sent is not the service's.
  for (RequestRecord& r : records) r.fate = RequestFate::kFailed;
  EXPECT_FALSE(Result(records).throughput()->overloaded());
  for (std::size_t i = 0; i < 6; ++i) records[i] = NotSent();
  EXPECT_FALSE(Result(records).throughput()->overloaded());
  for (RequestRecord& r : records) r.fate = RequestFate::kTimedOut;
  EXPECT_TRUE(Result(records).throughput()->overloaded());
  EXPECT_FALSE(Result({Ok(1), Ok(2)}).throughput().has_value()) << "one instant has no rate";
  EXPECT_FALSE(Result({}).throughput().has_value());
}

TEST(Records, KnowTheSpreadOfABatch) {
  const auto sent = [](std::int64_t ms, std::uint32_t batch) {
    RequestRecord r = Ok(100, batch);
    r.sent_ns = ms * kMs;
    return r;
  };
  // In any order of their writes; a batch of one has no spread, one not wholly sent none either.
  const LoadResult result =
      Result({sent(3, 0), sent(1, 0), sent(2, 0), sent(7, 1), sent(9, 2), NotSent(2)});
  EXPECT_THAT(result.BatchSpreads().sorted(), ElementsAre(L(2)));
}

TEST(Records, TellTheKindsOfAMixApart) {
  RequestRecord other = Ok(9);
  other.kind = 1;
  const LoadResult result = Result({Ok(1), other, Ok(3), TimedOut()});
  EXPECT_EQ(result.ResponseTimesOf(0).count(), 3);
  EXPECT_THAT(result.ResponseTimesOf(1).sorted(), ElementsAre(L(9)));
  EXPECT_THAT(result.ServiceTimesOf(1).sorted(), ElementsAre(L(9)));
  EXPECT_TRUE(result.ResponseTimesOf(2).empty());
}

TEST(Records, C130KeepThreeTimesApart) {
  RequestRecord r;
  r.intended_ns = 5 * kMs;
  r.sent_ns = 35 * kMs;
  r.done_ns = 45 * kMs;
  EXPECT_EQ(r.response_time(), 40ms);
  EXPECT_EQ(r.service_time(), 10ms);
  EXPECT_EQ(r.start_lag(), 30ms);
}

TEST(Records, WhatWasNeverSentHasNoTimes) {
  const RequestRecord r;
  EXPECT_THAT([&] { (void)r.start_lag(); }, ThrowsMessage<Error>(HasSubstr("no start lag")));
  EXPECT_THAT([&] { (void)r.service_time(); }, ThrowsMessage<Error>(HasSubstr("no service time")));
  EXPECT_THAT([&] { (void)r.response_time(); }, ThrowsMessage<Error>(HasSubstr("no response")));
}

TEST(Records, SumsAgreeWithTheRecords) {
  LoadResult result = Result({Ok(1), Ok(2), Failed(), TimedOut(), NotSent()});
  EXPECT_EQ(result.planned, 5);
  EXPECT_EQ(result.ok, 2);
  EXPECT_EQ(result.failed, 1);
  EXPECT_EQ(result.timed_out, 1);
  EXPECT_EQ(result.not_sent, 1);
  EXPECT_EQ(result.sent, 4);
  EXPECT_DOUBLE_EQ(result.error_ratio(), 0.5);
  result.records[0].retried = true;
  Tally(result);
  EXPECT_EQ(result.retried, 1);
  EXPECT_EQ(result.ok, 2);
}

TEST(Records, NothingSentHasNoSamplesAndNoErrorRatio) {
  const LoadResult result = Result({NotSent(), NotSent()});
  EXPECT_EQ(result.sent, 0);
  EXPECT_DOUBLE_EQ(result.error_ratio(), 0);
  EXPECT_TRUE(result.ResponseTimes().empty());
  EXPECT_TRUE(result.ServiceTimes().empty());
  EXPECT_TRUE(result.StartLags().empty());
}

TEST(Records, C125TimeoutsAreInThePercentiles) {
  std::vector<RequestRecord> records(97, Ok(10));
  records.insert(records.end(), 3, TimedOut());
  const LoadResult result = Result(std::move(records));
  EXPECT_EQ(result.ResponseTimes().At(Percentile(95)), L(10));
  EXPECT_TRUE(result.ResponseTimes().At(Percentile(99)).infinite());
  EXPECT_DOUBLE_EQ(result.error_ratio(), 0.03);
}

TEST(Records, C126ALatencyOfTwoMinutesIsASample) {
  const LoadResult result = Result({Ok(120'000)});
  EXPECT_EQ(result.ResponseTimes().count(), 1);
  EXPECT_EQ(result.ResponseTimes().max(), L(120'000));
}

TEST(Records, C135FastFailuresDoNotMakeASuccessFaster) {
  std::vector<RequestRecord> records(50, Failed());
  records.insert(records.end(), 50, Ok(100));
  const LoadResult result = Result(std::move(records));
  EXPECT_EQ(result.ResponseTimes().At(Percentile(50)), L(100));
  EXPECT_TRUE(result.ResponseTimes().At(Percentile(51)).infinite());
  EXPECT_DOUBLE_EQ(result.error_ratio(), 0.5);
}

TEST(Records, C139TimeoutsAndTheLatencyTableAgree) {
  std::vector<RequestRecord> records(14, Ok(100));
  records.insert(records.end(), 6, TimedOut());
  const LoadResult result = Result(std::move(records));
  EXPECT_EQ(result.timed_out, 6);
  EXPECT_FALSE(result.ResponseTimes().At(Percentile(70)).infinite());
  EXPECT_TRUE(result.ResponseTimes().At(Percentile(71)).infinite());
}

TEST(Records, C161AllFailedAtOnceIsAnErrorRatioOfOne) {
  const LoadResult result = Result(std::vector<RequestRecord>(100, Failed()));
  EXPECT_DOUBLE_EQ(result.error_ratio(), 1.0);
}

TEST(Records, C188AllFailedHasNoFiniteLatency) {
  const LoadResult result = Result(std::vector<RequestRecord>(3502, Failed()));
  EXPECT_EQ(result.ok, 0);
  EXPECT_DOUBLE_EQ(result.error_ratio(), 1.0);
  EXPECT_TRUE(result.ResponseTimes().At(Percentile(0.001)).infinite());
  EXPECT_TRUE(result.ServiceTimes().At(Percentile(0.001)).infinite());
}

TEST(Records, StartLagsAreOfThoseWhoseBytesWereWritten) {
  RequestRecord refused = Failed();
  refused.sent_ns = -1;
  RequestRecord late = TimedOut();
  late.sent_ns = 7 * kMs;
  const LoadResult result = Result({refused, late, NotSent()});
  EXPECT_THAT(result.StartLags().sorted(), ElementsAre(L(7)));
}

TEST(BatchOrder, IsTheMedianOverBatchesOfTheKthFastest) {
  const LoadResult result =
      Result({Ok(30, 0), Ok(10, 0), Ok(11, 1), Ok(50, 1), Ok(12, 2), Ok(31, 2)});
  EXPECT_THAT(result.BatchOrderMedians(), ElementsAre(L(11), L(31)));
}

TEST(BatchOrder, FailuresAreTheSlowestOfTheirBatch) {
  const LoadResult result = Result({Failed(0), Ok(10, 0), Failed(1), Ok(20, 1)});
  EXPECT_THAT(result.BatchOrderMedians(), ElementsAre(L(10), Latency::Infinite()));
}

TEST(BatchOrder, LeavesOutBatchesThatWereNotWhollySent) {
  const LoadResult result = Result({Ok(1, 0), NotSent(0), Ok(20, 1), Ok(30, 1)});
  EXPECT_THAT(result.BatchOrderMedians(), ElementsAre(L(20), L(30)));
  EXPECT_THAT(Result({Ok(1, 0), NotSent(0)}).BatchOrderMedians(), IsEmpty());
  EXPECT_THAT(Result({}).BatchOrderMedians(), IsEmpty());
}

TEST(Reasons, AreCountedAndBounded) {
  LoadResult result;
  for (int i = 0; i < 1000; ++i) CountReason(result, "short body: " + std::to_string(i));
  CountReason(result, "short body: 7");
  EXPECT_LE(result.failure_reasons.size(), 101u);
  EXPECT_EQ(result.failure_reasons.at("short body: 7"), 2);
  EXPECT_EQ(result.failure_reasons.at("other reasons"), 900);
}

}  // namespace
}  // namespace throttletest
