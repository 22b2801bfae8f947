#include "service/port.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <random>

#include "base/unique_fd.h"
#include "throttletest/base/error.h"

namespace throttletest::internal {
namespace {

// The lowest port the kernel hands out by itself. Source: net.ipv4.ip_local_port_range.
int FirstEphemeralPort() {
  std::ifstream in("/proc/sys/net/ipv4/ip_local_port_range");
  int first = 0;
  return in >> first ? first : 32768;
}

// The port that was bound; 0 asks the kernel for one. Absent: taken.
std::optional<std::uint16_t> TryBind(std::uint16_t port) {
  const UniqueFd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  if (!fd.valid() || ::bind(fd.get(), reinterpret_cast<sockaddr*>(&address), size) != 0 ||
      ::getsockname(fd.get(), reinterpret_cast<sockaddr*>(&address), &size) != 0) {
    return std::nullopt;
  }
  return ntohs(address.sin_port);
}

}  // namespace

// Below the range from which the kernel takes the source ports of connections: the load of this
// very test opens thousands of those, and each could take the port before the service binds it.
std::uint16_t PickPort() {
  constexpr int kLowest = 10000;
  constexpr int kTries = 64;
  static thread_local std::mt19937 random{std::random_device{}()};
  const int highest = FirstEphemeralPort() - 1;
  if (highest > kLowest) {
    std::uniform_int_distribution<int> any(kLowest, highest);
    for (int i = 0; i < kTries; ++i) {
      if (const auto port = TryBind(static_cast<std::uint16_t>(any(random)))) return *port;
    }
  }
  if (const auto port = TryBind(0)) return *port;
  throw Error(ErrorCode::kServiceStart,
              fmt::format("no free port on 127.0.0.1: {}", std::strerror(errno)));
}

}  // namespace throttletest::internal
