// Channel: one connection that carries one request at a time. The scheduling logic knows channels
// only through this, so that another transport, or a test's script, can take the place of TCP.
#pragma once

#include <cstddef>
#include <memory>

#include "load/fault.h"

namespace throttletest::internal {

using ChannelId = std::size_t;

// What a channel tells its owner. Never from within Open() or Send(), and never again after the
// channel is destroyed, which the owner may do inside any of these calls.
class ChannelEvents {
 public:
  virtual ~ChannelEvents() = default;
  virtual void OnOpened(ChannelId id) = 0;
  virtual void OnOpenFailed(ChannelId id, const Fault& fault) = 0;
  // The last byte of the request was written, when Send() could not write them all.
  virtual void OnWritten(ChannelId id) = 0;
  // The whole answer is in. Not reusable: the channel takes no further request; destroy it.
  virtual void OnAnswered(ChannelId id, int status, bool reusable) = 0;
  // The channel is of no more use, idle or not; destroy it. `answer_begun`: at least one byte of an
  // answer to the current request had come.
  virtual void OnBroken(ChannelId id, const Fault& fault, bool answer_begun) = 0;
};

// Destroying it closes it and gives up its request.
class Channel {
 public:
  virtual ~Channel() = default;
  // Writes the request. Only when open and without a request. True when all of it was written,
  // false when OnWritten or OnBroken will follow.
  virtual bool Send() = 0;
};

class Transport {
 public:
  virtual ~Transport() = default;
  // Starts to open a channel; OnOpened or OnOpenFailed follows.
  virtual std::unique_ptr<Channel> Open(ChannelId id, ChannelEvents& events) = 0;
};

}  // namespace throttletest::internal
