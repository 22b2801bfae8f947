#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <ctime>

#include "base/unique_fd.h"
#include "service/probe.h"

namespace throttletest::internal {
namespace {

constexpr std::chrono::milliseconds kStaysOpen{20};

sockaddr_in Address(const ReadinessTarget& target) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(target.port);
  ::inet_pton(AF_INET, target.host.c_str(), &address.sin_addr);
  return address;
}

// Waits for `events`; the returned events are 0 when the time is over.
short PollFor(int fd, short events, std::chrono::nanoseconds timeout) {
  const auto end = std::chrono::steady_clock::now() + timeout;
  while (true) {
    const auto left = std::max(end - std::chrono::steady_clock::now(), std::chrono::nanoseconds(0));
    const auto whole = std::chrono::duration_cast<std::chrono::seconds>(left);
    const timespec wait{.tv_sec = whole.count(),
                        .tv_nsec = static_cast<long>((left - whole).count())};
    pollfd entry{.fd = fd, .events = events, .revents = 0};
    const int ready = ::ppoll(&entry, 1, &wait, nullptr);
    if (ready > 0) return entry.revents;
    if (ready == 0 || errno != EINTR) return 0;
  }
}

std::string SocketError(int fd) {
  int error = 0;
  socklen_t size = sizeof(error);
  ::getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size);
  return error == 0 ? std::string() : std::strerror(error);
}

// A connection to a port nobody listens on can meet itself when the kernel picks the very port as
// its source.
bool ConnectedToItself(int fd) {
  sockaddr_in local{};
  sockaddr_in peer{};
  socklen_t local_size = sizeof(local);
  socklen_t peer_size = sizeof(peer);
  return ::getsockname(fd, reinterpret_cast<sockaddr*>(&local), &local_size) == 0 &&
         ::getpeername(fd, reinterpret_cast<sockaddr*>(&peer), &peer_size) == 0 &&
         local.sin_port == peer.sin_port && local.sin_addr.s_addr == peer.sin_addr.s_addr;
}

// Empty: open after `kStaysOpen`.
std::string WatchOpen(int fd, const std::string& where) {
  const short events = PollFor(fd, POLLIN | POLLRDHUP, kStaysOpen);
  if (events == 0) return {};
  char byte = 0;
  const ssize_t got = ::recv(fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
  if (got > 0) return {};  // the protocol's server speaks first
  if (got == 0) return fmt::format("{} accepted the connection and closed it at once", where);
  if (errno == EAGAIN) return {};
  return fmt::format("{} accepted the connection and then: {}", where, std::strerror(errno));
}

}  // namespace

std::string ProbeTcp(const ReadinessTarget& target) {
  const std::string where = fmt::format("{}:{}", target.host, target.port);
  const UniqueFd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd.valid()) return fmt::format("no socket: {}", std::strerror(errno));
  const sockaddr_in address = Address(target);
  if (::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0) {
    if (errno != EINPROGRESS) return fmt::format("{}: {}", where, std::strerror(errno));
    if (PollFor(fd.get(), POLLOUT, target.patience) == 0) {
      return fmt::format("{}: connection not accepted in time", where);
    }
    if (const auto error = SocketError(fd.get()); !error.empty()) {
      return fmt::format("{}: {}", where, error);
    }
  }
  if (ConnectedToItself(fd.get())) return fmt::format("{}: nobody listens", where);
  return WatchOpen(fd.get(), where);
}

}  // namespace throttletest::internal
