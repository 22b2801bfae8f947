// SimulatedService: a Transport and a Clock for the load engine's scheduling logic, in which time
// passes only when the test says so and every connection and answer comes when the test decides.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <queue>
#include <set>
#include <utility>

#include "load/channel.h"
#include "load/clock.h"
#include "load/dispatcher.h"
#include "load/fault.h"
#include "support/milliseconds.h"

namespace throttletest::testing_support {

class SimulatedService : public internal::Transport, public internal::Clock {
 public:
  // What becomes of one request. Absent `done_ns`: it is never answered.
  struct Fate {
    std::optional<std::int64_t> done_ns;
    int status = 200;
    bool reusable = true;
    std::optional<internal::Fault> fault = {};  // instead of an answer
    bool answer_begun = false;
  };
  // Units: sent_ns: when it was sent; `use`: how many requests the connection carried before.
  using Serve = std::function<Fate(std::int64_t sent_ns, int use)>;

  explicit SimulatedService(Serve serve) : serve_(std::move(serve)) {}

  // How long a connect takes, and the errno it ends with from the n-th connect on (0-based).
  std::int64_t connect_ns = 0;
  std::map<int, int> connect_errors = {};
  // How long each write keeps the generator busy.
  std::int64_t write_ns = 0;

  int connects() const { return connects_; }
  int sends() const { return sends_; }
  int open_channels() const { return static_cast<int>(alive_.size()); }

  std::int64_t Now() const override { return now_; }
  void Set(std::int64_t now_ns) { now_ = std::max(now_, now_ns); }

  std::unique_ptr<internal::Channel> Open(internal::ChannelId id,
                                          internal::ChannelEvents& events) override {
    const int number = connects_++;
    auto channel = std::make_unique<SimulatedChannel>(*this, id, events, number);
    const auto error = connect_errors.find(number);
    At(now_ + connect_ns, number, [=, this, &events] {
      if (error != connect_errors.end()) {
        events.OnOpenFailed(id, internal::ConnectFault(error->second));
      } else {
        events.OnOpened(id);
      }
    });
    return channel;
  }

  // Closes every connection that is open, as an idle timeout of the service does.
  void CloseAll() {
    for (const auto& [number, channel] : std::map(alive_)) {
      At(now_, number, [c = channel] { c->Break(); });
    }
  }

  // Lets time pass until everything is done, waking the dispatcher when it asks to be, or
  // `late_ns` after that. Returns the time it ended.
  std::int64_t RunToEnd(internal::Dispatcher& dispatcher, std::int64_t late_ns = 0) {
    return RunUntil(dispatcher, internal::kNever, late_ns);
  }
  std::int64_t RunUntil(internal::Dispatcher& dispatcher, std::int64_t until_ns,
                        std::int64_t late_ns = 0) {
    while (!dispatcher.Done()) {
      const std::int64_t wake = dispatcher.NextWake();
      const std::int64_t at = wake == internal::kNever ? wake : wake + late_ns;
      const std::int64_t event = queue_.empty() ? internal::kNever : queue_.top().at_ns;
      if (std::min(at, event) >= until_ns) break;
      // What has already come is read before more is sent, as the engine does.
      if (event <= std::max(at, now_)) {
        Step();
      } else {
        Set(at);
        dispatcher.OnTime();
        ++wake_ups_;
      }
    }
    if (until_ns != internal::kNever) Set(until_ns);
    return now_;
  }
  int wake_ups() const { return wake_ups_; }

 private:
  struct Event {
    std::int64_t at_ns;
    std::int64_t order;
    int channel;
    std::function<void()> act;
    bool operator<(const Event& other) const {
      return std::pair(at_ns, order) > std::pair(other.at_ns, other.order);
    }
  };

  class SimulatedChannel : public internal::Channel {
   public:
    SimulatedChannel(SimulatedService& service, internal::ChannelId id,
                     internal::ChannelEvents& events, int number)
        : service_(service), id_(id), events_(events), number_(number) {
      service_.alive_[number_] = this;
    }
    ~SimulatedChannel() override { service_.alive_.erase(number_); }

    bool Send(internal::RequestKind /*kind*/) override {
      ++service_.sends_;
      const Fate fate = service_.serve_(service_.now_, uses_++);
      service_.now_ += service_.write_ns;
      if (!fate.done_ns) return true;
      service_.At(*fate.done_ns, number_, [this, fate] {
        if (fate.fault) {
          events_.OnBroken(id_, *fate.fault, fate.answer_begun);
        } else {
          events_.OnAnswered(id_, {.status = fate.status, .reusable = fate.reusable});
        }
      });
      return true;
    }
    void Break() { events_.OnBroken(id_, {.reason = "closed", .closed = true}, false); }

   private:
    SimulatedService& service_;
    internal::ChannelId id_;
    internal::ChannelEvents& events_;
    int number_;
    int uses_ = 0;
  };

  void At(std::int64_t at_ns, int channel, std::function<void()> act) {
    queue_.push({at_ns, order_++, channel, std::move(act)});
  }

  void Step() {
    const Event event = queue_.top();
    queue_.pop();
    Set(event.at_ns);
    if (alive_.contains(event.channel)) event.act();
  }

  Serve serve_;
  std::int64_t now_ = -1'000'000'000;
  std::priority_queue<Event> queue_;
  std::int64_t order_ = 0;
  std::map<int, SimulatedChannel*> alive_;  // by number of connect
  int connects_ = 0;
  int sends_ = 0;
  int wake_ups_ = 0;
};

// A service that takes `ns` for each request.
inline SimulatedService::Serve Takes(std::int64_t ns) {
  return [ns](std::int64_t sent, int) { return SimulatedService::Fate{.done_ns = sent + ns}; };
}
// A service that never answers.
inline SimulatedService::Serve Silent() {
  return [](std::int64_t, int) { return SimulatedService::Fate{}; };
}

}  // namespace throttletest::testing_support
