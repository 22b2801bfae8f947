// Pool: the connections of an engine and which of them can take a request now.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "load/channel.h"

namespace throttletest::internal {

// A connection and what it is doing.
struct Line {
  enum class State : std::uint8_t { kOpening, kIdle, kBusy };

  std::unique_ptr<Channel> channel;
  State state = State::kOpening;
  bool served = false;    // has carried an answered request
  bool rested = false;    // was idle before its current request, so it may have gone stale
  bool writing = false;   // its request is not wholly written yet
  bool reserved = false;  // opening for `request` alone
  std::int64_t request = -1;
};

// Idle connections that have served come first, the latest used at the head, then those that never
// served, the oldest at the head. A service that binds a thread to a connection has then a thread
// for the ones in use, instead of one for each connection that was ever opened.
class Pool {
 public:
  explicit Pool(Transport& transport) : transport_(transport) {}

  ChannelId Open(ChannelEvents& events);
  Line& at(ChannelId id) { return *lines_[id]; }
  void Drop(ChannelId id);
  void MakeIdle(ChannelId id);
  // Absent: none is idle. The line is busy then, with `rested` set.
  std::optional<ChannelId> TakeIdle();
  // Out of the opening or idle ones.
  void MakeBusy(ChannelId id, std::int64_t request);

  std::int64_t idle() const { return static_cast<std::int64_t>(served_.size() + fresh_.size()); }
  // Being opened for whichever request comes first.
  std::int64_t opening() const { return opening_; }
  // Takes a line that is being opened out of that count: it is for `request` alone.
  void Reserve(ChannelId id, std::int64_t request);
  // Drops every line that is not idle.
  void DropUnfinished();

 private:
  void Forget(ChannelId id);

  Transport& transport_;
  std::vector<std::unique_ptr<Line>> lines_;  // by id; null: the id is free
  std::vector<ChannelId> free_ids_;
  std::vector<ChannelId> served_;
  std::deque<ChannelId> fresh_;
  std::int64_t opening_ = 0;
};

}  // namespace throttletest::internal
