#include "load/call_transport.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>
#include <stdexcept>
#include <thread>

#include "throttletest/base/error.h"
#include "throttletest/load/request.h"

namespace throttletest::internal {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// What a channel told its owner, and the thread's queue that it goes through.
class CallTransportTest : public testing::Test, public ChannelEvents {
 protected:
  void OnOpened(ChannelId id) override { opened_.push_back(id); }
  void OnOpenFailed(ChannelId /*id*/, const Fault& /*fault*/) override { FAIL(); }
  void OnWritten(ChannelId /*id*/) override { FAIL(); }
  void OnAnswered(ChannelId /*id*/, const Answer& answer) override {
    EXPECT_TRUE(answer.reusable);
    statuses_.push_back(answer.status);
    faults_.push_back(answer.fault);
  }
  void OnBroken(ChannelId /*id*/, const Fault& /*fault*/, bool /*begun*/) override { FAIL(); }

  CallTransport Make(throttletest::Transport transport) {
    return CallTransport({std::move(transport)},
                         [this](std::function<void()> act) { queue_.push_back(std::move(act)); });
  }
  void RunQueue() {
    while (!queue_.empty()) {
      const auto act = std::move(queue_.front());
      queue_.pop_front();
      act();
    }
  }

  std::deque<std::function<void()>> queue_;
  std::vector<ChannelId> opened_;
  std::vector<int> statuses_;
  std::vector<std::string> faults_;
};

TEST_F(CallTransportTest, OpensAtOnceButNotWithinOpen) {
  CallTransport transport = Make([](const TransportCall&, TransportDone) {});
  const auto channel = transport.Open(5, *this);
  EXPECT_THAT(opened_, IsEmpty());
  RunQueue();
  EXPECT_THAT(opened_, ElementsAre(5));
}

TEST_F(CallTransportTest, DeliversAnAnswerGivenWithinTheCallAfterIt) {
  std::vector<std::int64_t> numbers;
  CallTransport transport = Make([&](const TransportCall& call, const TransportDone& done) {
    numbers.push_back(call.number);
    done({.status = 7});
  });
  const auto channel = transport.Open(0, *this);
  RunQueue();
  for (int i = 0; i < 2; ++i) {
    EXPECT_TRUE(channel->Send(0));
    EXPECT_EQ(statuses_.size(), static_cast<std::size_t>(i)) << "not from within Send()";
    RunQueue();
  }
  EXPECT_THAT(statuses_, ElementsAre(7, 7));
  EXPECT_THAT(faults_, ElementsAre("", ""));
  EXPECT_THAT(numbers, ElementsAre(0, 1));
}

TEST_F(CallTransportTest, TakesAnAnswerFromAnotherThread) {
  std::thread other;
  CallTransport transport = Make([&](const TransportCall&, const TransportDone& done) {
    other = std::thread([done] { done({.ok = false, .reason = "refused"}); });
  });
  const auto channel = transport.Open(0, *this);
  RunQueue();
  channel->Send(0);
  other.join();
  RunQueue();
  EXPECT_THAT(faults_, ElementsAre("refused"));
}

TEST_F(CallTransportTest, CountsTheFirstAnswerOnly) {
  CallTransport transport = Make([](const TransportCall&, const TransportDone& done) {
    done({.status = 1});
    done({.status = 2});
  });
  const auto channel = transport.Open(0, *this);
  RunQueue();
  channel->Send(0);
  RunQueue();
  EXPECT_THAT(statuses_, ElementsAre(1));
}

TEST_F(CallTransportTest, IgnoresAnswersAfterTheChannelIsGone) {
  std::optional<TransportDone> kept;
  CallTransport transport =
      Make([&](const TransportCall&, const TransportDone& done) { kept = done; });
  auto channel = transport.Open(0, *this);
  RunQueue();
  channel->Send(0);
  (*kept)({});  // queued, and the channel goes before the queue is run
  channel.reset();
  (*kept)({});
  RunQueue();
  EXPECT_THAT(statuses_, IsEmpty());
}

TEST_F(CallTransportTest, TurnsAnExceptionIntoAFailedRequest) {
  CallTransport transport = Make([](const TransportCall&, const TransportDone&) {
    throw std::runtime_error("queue is full");
  });
  const auto channel = transport.Open(0, *this);
  RunQueue();
  channel->Send(0);
  RunQueue();
  EXPECT_THAT(faults_, ElementsAre("the transport threw: queue is full"));
}

TEST_F(CallTransportTest, GivesAFailureWithoutAReasonOne) {
  CallTransport transport =
      Make([](const TransportCall&, const TransportDone& done) { done({.ok = false}); });
  const auto channel = transport.Open(0, *this);
  RunQueue();
  channel->Send(0);
  RunQueue();
  EXPECT_THAT(faults_, ElementsAre("failed"));
}

TEST(BlockingTransport, RefusesAnImpossibleNumberOfThreads) {
  const auto nothing = [](const TransportCall&) { return TransportResult{}; };
  EXPECT_THROW(Blocking(0, nothing), Error);
  EXPECT_THROW(Blocking(1025, nothing), Error);
}

TEST(CustomRequest, HasANameAndATransport) {
  const auto nothing = [](const TransportCall&, const TransportDone&) {};
  EXPECT_EQ(Custom("echo", nothing).ToString(), "echo");
  EXPECT_THROW(Custom("", nothing), Error);
  EXPECT_THROW(Custom("echo", nullptr), Error);
}

}  // namespace
}  // namespace throttletest::internal
