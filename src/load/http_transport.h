// HttpTransport: channels that are TCP or Unix connections carrying HTTP/1.1.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "load/address.h"
#include "load/channel.h"
#include "load/poller.h"

namespace throttletest::internal {

// A request as it is sent, and how its answer is read.
struct HttpExchange {
  std::string request_text;
  bool no_body = false;  // a HEAD request
  bool close = false;    // the request asks the service to close: one request a connection
};

class HttpTransport : public Transport {
 public:
  // The poller must outlive the transport and its channels.
  HttpTransport(Poller& poller, const SocketAddress& address, std::vector<HttpExchange> exchanges)
      : poller_(poller), address_(address), exchanges_(std::move(exchanges)) {}

  std::unique_ptr<Channel> Open(ChannelId id, ChannelEvents& events) override;

 private:
  Poller& poller_;
  SocketAddress address_;
  std::vector<HttpExchange> exchanges_;  // by RequestKind
};

}  // namespace throttletest::internal
