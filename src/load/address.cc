#include "load/address.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/un.h>

#include <cstddef>
#include <cstring>
#include <string>

#include "throttletest/base/error.h"

namespace throttletest::internal {
namespace {

template <typename T>
SocketAddress Stored(const T& address, std::size_t size = sizeof(T)) {
  SocketAddress stored;
  std::memcpy(&stored.storage, &address, sizeof(T));
  stored.size = static_cast<socklen_t>(size);
  return stored;
}

SocketAddress ResolveUnix(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  // A path ends with a zero; an abstract name starts with one instead.
  if (path.size() >= sizeof(address.sun_path)) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("path \"{}\" of the Unix socket has {} bytes, but the kernel takes at "
                            "most {}: use a shorter folder, or a relative path",
                            path, path.size(), sizeof(address.sun_path) - 1));
  }
  if (path.find('\0') != std::string::npos) {
    throw Error(
        ErrorCode::kInvalidArgument,
        "path of the Unix socket must not hold a zero byte; write '@' for an abstract name");
  }
  std::memcpy(address.sun_path, path.data(), path.size());
  const std::size_t size = offsetof(sockaddr_un, sun_path) + path.size();
  if (path.front() != '@') return Stored(address, size + 1);
  address.sun_path[0] = '\0';
  return Stored(address, size);
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
  return endpoint.unix_path.empty() ? ResolveTcp(endpoint) : ResolveUnix(endpoint.unix_path);
}

}  // namespace throttletest::internal
