// TcpTransport: channels that are TCP connections carrying HTTP/1.1, on a Boost.Asio context.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "load/channel.h"

namespace throttletest::internal {

// A request as it is sent, and how its answer is read.
struct HttpExchange {
  std::string request_text;
  bool no_body = false;  // a HEAD request
  bool close = false;    // the request asks the service to close: one request a connection
};

class TcpTransport : public Transport {
 public:
  // The context must outlive the transport and run on one thread at a time.
  TcpTransport(boost::asio::io_context& io, const boost::asio::ip::tcp::endpoint& endpoint,
               std::vector<HttpExchange> exchanges)
      : io_(io), endpoint_(endpoint), exchanges_(std::move(exchanges)) {}

  std::unique_ptr<Channel> Open(ChannelId id, ChannelEvents& events) override;

 private:
  boost::asio::io_context& io_;
  boost::asio::ip::tcp::endpoint endpoint_;
  std::vector<HttpExchange> exchanges_;  // by RequestKind
};

}  // namespace throttletest::internal
