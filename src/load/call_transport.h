// CallTransport: lets a user's Transport take the place of connections. A channel is a slot for one
// call at a time; it is open at once and never breaks.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "load/channel.h"
#include "throttletest/load/transport.h"

namespace throttletest::internal {

class CallTransport : public Transport {
 public:
  // Runs a function on the engine's thread, soon and never at once. May be called on any thread.
  using Post = std::function<void(std::function<void()>)>;

  // Units: transports by RequestKind. `post` must work as long as a slot of this transport lives.
  CallTransport(std::vector<throttletest::Transport> transports, Post post)
      : transports_(std::move(transports)), post_(std::move(post)) {}

  std::unique_ptr<Channel> Open(ChannelId id, ChannelEvents& events) override;

 private:
  friend class CallChannel;

  std::vector<throttletest::Transport> transports_;
  Post post_;
  std::int64_t calls_ = 0;
};

}  // namespace throttletest::internal
