#include "load/address.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>

#include <cstring>
#include <string>

#include "base/unix_address.h"
#include "load/tls.h"
#include "throttletest/base/error.h"

namespace throttletest {
namespace internal {
namespace {

template <typename T>
SocketAddress Stored(const T& address, std::size_t size = sizeof(T)) {
  SocketAddress stored;
  std::memcpy(&stored.storage, &address, sizeof(T));
  stored.size = static_cast<socklen_t>(size);
  return stored;
}

SocketAddress ResolveTcp(const Endpoint& endpoint) {
  if (endpoint.port == 0) {
    throw Error(ErrorCode::kInvalidArgument, "endpoint port 0 is out of range 1..65535");
  }
  std::string host = endpoint.host == "localhost" ? "127.0.0.1" : endpoint.host;
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  sockaddr_in v4{};
  if (::inet_pton(AF_INET, host.c_str(), &v4.sin_addr) == 1 &&
      (ntohl(v4.sin_addr.s_addr) >> 24) == IN_LOOPBACKNET) {
    v4.sin_family = AF_INET;
    v4.sin_port = htons(endpoint.port);
    return Stored(v4);
  }
  sockaddr_in6 v6{};
  if (::inet_pton(AF_INET6, host.c_str(), &v6.sin6_addr) == 1 &&
      IN6_IS_ADDR_LOOPBACK(&v6.sin6_addr)) {
    v6.sin6_family = AF_INET6;
    v6.sin6_port = htons(endpoint.port);
    return Stored(v6);
  }
  throw Error(ErrorCode::kInvalidArgument,
              fmt::format("load goes to this machine only: endpoint \"{}\" is not a loopback "
                          "address such as 127.0.0.1 or ::1",
                          endpoint.host));
}

}  // namespace

SocketAddress Resolve(const Endpoint& endpoint) {
  if (endpoint.unix_path.empty()) return ResolveTcp(endpoint);
  const UnixAddress address = ResolveUnix(endpoint.unix_path);
  return Stored(address.address, address.size);
}

}  // namespace internal

void Validate(const Endpoint& endpoint) {
  internal::Resolve(endpoint);
  if (endpoint.tls) internal::TlsClient client(endpoint);
}

}  // namespace throttletest
