#include "listener.h"

#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <memory>
#include <stdexcept>
#include <system_error>

namespace burn_server {
namespace {

using throttletest::internal::UniqueFd;

// The kernel cuts it to net.core.somaxconn, 4096 since Linux 5.4.
constexpr int kBacklog = 4096;

std::string Address(const std::string& host, unsigned port) {
  return host.find(':') == std::string::npos ? fmt::format("{}:{}", host, port)
                                             : fmt::format("[{}]:{}", host, port);
}

using AddressList = std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)>;

// Numeric addresses only: no resolver, so that the server runs in an image without one.
AddressList Resolve(const std::string& host, const std::string& port) {
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV | AI_PASSIVE;
  addrinfo* found = nullptr;
  const std::string& numeric = host == "localhost" ? std::string("127.0.0.1") : host;
  if (::getaddrinfo(numeric.c_str(), port.c_str(), &hints, &found) != 0 || found == nullptr) {
    throw std::invalid_argument(
        fmt::format("--host: \"{}\" is not a numeric IP address such as 127.0.0.1", host));
  }
  return {found, &::freeaddrinfo};
}

std::string BoundAddress(int fd) {
  sockaddr_storage address{};
  socklen_t size = sizeof(address);
  std::array<char, NI_MAXHOST> host{};
  std::array<char, NI_MAXSERV> port{};
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  if (::getsockname(fd, generic, &size) != 0 ||
      ::getnameinfo(generic, size, host.data(), host.size(), port.data(), port.size(),
                    NI_NUMERICHOST | NI_NUMERICSERV) != 0) {
    throw std::system_error(errno, std::generic_category(), "cannot read the bound address");
  }
  return Address(host.data(), static_cast<unsigned>(std::stoul(port.data())));
}

}  // namespace

Listener Listen(const std::string& host, std::uint16_t port) {
  const auto addresses = Resolve(host, std::to_string(port));
  const auto fail = [&]() -> std::system_error {
    return {errno, std::generic_category(), "cannot listen on " + Address(host, port)};
  };
  UniqueFd fd(::socket(addresses->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd.valid()) throw fail();
  const int on = 1;
  // A restart must not wait for connections in TIME_WAIT. Not SO_REUSEPORT: two servers would share
  // the port without a word and each would get half of the load.
  ::setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  // Accepted sockets inherit it.
  ::setsockopt(fd.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  if (::bind(fd.get(), addresses->ai_addr, addresses->ai_addrlen) != 0) throw fail();
  if (::listen(fd.get(), kBacklog) != 0) throw fail();
  std::string address = BoundAddress(fd.get());
  return {std::move(fd), std::move(address)};
}

}  // namespace burn_server
