#include "load/http_transport.h"

#include <utility>

#include "load/http_connection.h"

namespace throttletest::internal {

HttpTransport::HttpTransport(Poller& poller, const Endpoint& endpoint,
                             std::vector<HttpExchange> exchanges)
    : poller_(poller),
      address_(Resolve(endpoint)),
      tls_(endpoint.tls ? std::make_unique<const TlsClient>(endpoint) : nullptr),
      exchanges_(std::move(exchanges)) {}

std::unique_ptr<Channel> HttpTransport::Open(ChannelId id, ChannelEvents& events) {
  return std::make_unique<HttpConnection>(poller_, address_, tls_.get(), exchanges_, id, events);
}

}  // namespace throttletest::internal
