// Channel: one connection that carries one request at a time. The scheduling logic knows channels
// only through this, so that another transport, or a test's script, can take the place of TCP.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "load/fault.h"

namespace throttletest::internal {

using ChannelId = std::size_t;

// Which of an engine's requests is meant: their position in its list.
using RequestKind = std::uint16_t;

// What came back for one request.
struct Answer {
  int status = 0;  // HTTP status, or what the transport uses like one
  // False: the channel takes no further request; destroy it.
  bool reusable = true;
  // Why the answer is wrong although its status is as expected, such as a body that lacks a text.
  // Empty: it is not.
  std::string fault = {};
};

// What a channel tells its owner. Never from within Open() or Send(), and never again after the
// channel is destroyed, which the owner may do inside any of these calls.
class ChannelEvents {
 public:
  virtual ~ChannelEvents() = default;
  virtual void OnOpened(ChannelId id) = 0;
  virtual void OnOpenFailed(ChannelId id, const Fault& fault) = 0;
  // The last byte of the request was written, when Send() could not write them all.
  virtual void OnWritten(ChannelId id) = 0;
  // The whole answer is in.
  virtual void OnAnswered(ChannelId id, const Answer& answer) = 0;
  // The channel is of no more use, idle or not; destroy it. `answer_begun`: at least one byte of an
  // answer to the current request had come.
  virtual void OnBroken(ChannelId id, const Fault& fault, bool answer_begun) = 0;
};

// Destroying it closes it and gives up its request.
class Channel {
 public:
  virtual ~Channel() = default;
  // Writes a request of this kind. Only when open and without a request. True when all of it was
  // written, false when OnWritten or OnBroken will follow.
  virtual bool Send(RequestKind kind) = 0;
};

class Transport {
 public:
  virtual ~Transport() = default;
  // Starts to open a channel; OnOpened or OnOpenFailed follows.
  virtual std::unique_ptr<Channel> Open(ChannelId id, ChannelEvents& events) = 0;
};

}  // namespace throttletest::internal
