#include "load/http_transport.h"

#include "load/http_connection.h"

namespace throttletest::internal {

std::unique_ptr<Channel> HttpTransport::Open(ChannelId id, ChannelEvents& events) {
  return std::make_unique<HttpConnection>(poller_, address_, exchanges_, id, events);
}

}  // namespace throttletest::internal
