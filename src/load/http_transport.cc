#include "load/http_transport.h"

#include <utility>

#include "load/http_connection.h"

namespace throttletest::internal {
namespace {

constexpr std::size_t kScratchSize = 65536;

}  // namespace

HttpTransport::HttpTransport(Poller& poller, const Endpoint& endpoint,
                             std::vector<HttpExchange> exchanges)
    : shared_{.poller = poller,
              .address = Resolve(endpoint),
              .tls = endpoint.tls ? std::make_unique<const TlsClient>(endpoint) : nullptr,
              .exchanges = std::move(exchanges),
              .scratch = std::vector<char>(kScratchSize)} {}

std::unique_ptr<Channel> HttpTransport::Open(ChannelId id, ChannelEvents& events) {
  return std::make_unique<HttpConnection>(shared_, id, events);
}

}  // namespace throttletest::internal
