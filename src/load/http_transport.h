// HttpTransport: channels that are connections to an endpoint, carrying HTTP/1.1.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "load/address.h"
#include "load/channel.h"
#include "load/poller.h"
#include "load/tls.h"
#include "throttletest/load/request.h"

namespace throttletest::internal {

// A request as it is sent, and how its answer is read.
struct HttpExchange {
  std::string request_text;
  bool no_body = false;        // a HEAD request
  bool close = false;          // the request asks the service to close: one request a connection
  std::string body_text = {};  // what the answer's body must contain; empty: anything
};

// What the connections of a transport share.
struct HttpShared {
  Poller& poller;
  SocketAddress address;
  std::unique_ptr<const TlsClient> tls;  // absent: plain connections
  std::vector<HttpExchange> exchanges;   // by RequestKind
  std::vector<char> scratch;             // where they read to, see HttpReader
};

class HttpTransport : public Transport {
 public:
  // The poller must outlive the transport, and that its channels. Errors: kInvalidArgument for an
  // endpoint that is of no use.
  HttpTransport(Poller& poller, const Endpoint& endpoint, std::vector<HttpExchange> exchanges);

  std::unique_ptr<Channel> Open(ChannelId id, ChannelEvents& events) override;

 private:
  HttpShared shared_;
};

}  // namespace throttletest::internal
