#include "load/call_transport.h"

#include <fmt/format.h>

#include <exception>
#include <mutex>
#include <utility>

namespace throttletest {
namespace internal {

// What a call that is under way knows of its channel. The answer may come on any thread and after
// the channel, so it goes through here.
class CallSlot {
 public:
  CallSlot(ChannelId id, ChannelEvents& events, CallTransport::Post post)
      : id_(id), events_(&events), post_(std::move(post)) {}

  void Opened(const std::shared_ptr<CallSlot>& self) {
    post_([self] {
      if (ChannelEvents* events = self->events()) events->OnOpened(self->id_);
    });
  }

  // A new call: answers to earlier ones no longer count.
  std::uint64_t Begin() {
    const std::lock_guard lock(mutex_);
    return ++use_;
  }

  void Answer(const std::shared_ptr<CallSlot>& self, std::uint64_t use, TransportResult result) {
    const std::lock_guard lock(mutex_);
    if (events_ == nullptr || use != use_ || answered_ == use) return;
    answered_ = use;
    // Under the lock, so that the channel cannot be closed, nor the engine end, in between.
    post_([self, use, result = std::move(result)] { self->Deliver(use, result); });
  }

  void Close() {
    const std::lock_guard lock(mutex_);
    events_ = nullptr;
  }

 private:
  ChannelEvents* events() {
    const std::lock_guard lock(mutex_);
    return events_;
  }

  void Deliver(std::uint64_t use, const TransportResult& result) {
    ChannelEvents* events = nullptr;
    {
      const std::lock_guard lock(mutex_);
      if (use == use_) events = events_;
    }
    if (events == nullptr) return;
    std::string fault;
    if (!result.ok) fault = result.reason.empty() ? "failed" : result.reason;
    events->OnAnswered(id_, {.status = result.status, .fault = std::move(fault)});
  }

  const ChannelId id_;
  std::mutex mutex_;
  ChannelEvents* events_;  // null once closed
  std::uint64_t use_ = 0;
  std::uint64_t answered_ = 0;
  CallTransport::Post post_;
};

class CallChannel : public Channel {
 public:
  CallChannel(CallTransport& transport, std::shared_ptr<CallSlot> slot)
      : transport_(transport), slot_(std::move(slot)) {}
  ~CallChannel() override { slot_->Close(); }

  bool Send(RequestKind kind) override {
    const std::uint64_t use = slot_->Begin();
    const TransportDone done(slot_, use);
    try {
      transport_.transports_[kind]({.number = transport_.calls_++, .kind = kind}, done);
    } catch (const std::exception& e) {
      done({.ok = false, .reason = fmt::format("the transport threw: {}", e.what())});
    } catch (...) {
      done({.ok = false, .reason = "the transport threw"});
    }
    return true;
  }

 private:
  CallTransport& transport_;
  std::shared_ptr<CallSlot> slot_;
};

std::unique_ptr<Channel> CallTransport::Open(ChannelId id, ChannelEvents& events) {
  auto slot = std::make_shared<CallSlot>(id, events, post_);
  slot->Opened(slot);
  return std::make_unique<CallChannel>(*this, std::move(slot));
}

}  // namespace internal

void TransportDone::operator()(TransportResult result) const {
  if (const auto slot = slot_.lock()) slot->Answer(slot, use_, std::move(result));
}

}  // namespace throttletest
