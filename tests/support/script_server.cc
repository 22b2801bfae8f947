#include "support/script_server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <array>
#include <charconv>
#include <cstddef>
#include <system_error>

namespace throttletest::testing_support {
namespace {

using internal::UniqueFd;

void Check(bool ok, const char* what) {
  if (!ok) throw std::system_error(errno, std::generic_category(), what);
}

UniqueFd Bound(const void* address, socklen_t size) {
  const auto* generic = static_cast<const sockaddr*>(address);
  UniqueFd fd(::socket(generic->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  Check(fd.valid(), "socket");
  Check(::bind(fd.get(), generic, size) == 0, "bind");
  return fd;
}

UniqueFd BoundV4() {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return Bound(&address, sizeof(address));
}

// Units: 0 for a Unix socket.
std::uint16_t PortOf(const UniqueFd& fd) {
  sockaddr_storage address{};
  socklen_t size = sizeof(address);
  Check(::getsockname(fd.get(), reinterpret_cast<sockaddr*>(&address), &size) == 0, "getsockname");
  if (address.ss_family == AF_UNIX) return 0;
  // The port is at the same place in both.
  return ntohs(reinterpret_cast<const sockaddr_in&>(address).sin_port);
}

// Bytes of the first whole request in `text`. Absent: it is not whole yet.
std::optional<std::size_t> WholeRequest(std::string_view text) {
  const auto end = text.find("\r\n\r\n");
  if (end == std::string_view::npos) return std::nullopt;
  constexpr std::string_view kLength = "Content-Length: ";
  const auto at = text.substr(0, end).find(kLength);
  std::size_t body = 0;
  if (at != std::string_view::npos) {
    std::from_chars(text.data() + at + kLength.size(), text.data() + end, body);
  }
  const std::size_t whole = end + 4 + body;
  return text.size() >= whole ? std::optional(whole) : std::nullopt;
}

}  // namespace

std::optional<std::string> Peer::ReadRequest() {
  std::array<char, 16384> buffer;
  for (;;) {
    if (const auto whole = WholeRequest(rest_)) {
      std::string request = rest_.substr(0, *whole);
      rest_.erase(0, *whole);
      ++server_.requests_;
      return request;
    }
    const ssize_t n = wire_ ? wire_->Receive(buffer.data(), buffer.size())
                            : ::recv(fd_.get(), buffer.data(), buffer.size(), 0);
    if (n <= 0) return std::nullopt;
    rest_.append(buffer.data(), static_cast<std::size_t>(n));
  }
}

bool Peer::Send(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n =
        wire_ ? wire_->Send(bytes) : ::send(fd_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (n <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
  return true;
}

void Peer::EndSending() { ::shutdown(fd_.get(), SHUT_WR); }

bool Peer::Wait(std::chrono::nanoseconds duration) { return server_.WaitOrStop(duration); }

void Peer::Reset() {
  const linger now{.l_onoff = 1, .l_linger = 0};
  ::setsockopt(fd_.get(), SOL_SOCKET, SO_LINGER, &now, sizeof(now));
  wire_.reset();
  const std::lock_guard lock(server_.mutex_);
  fd_.Reset();
}

ScriptServer::ScriptServer(Script script, std::chrono::nanoseconds accept_delay, int backlog)
    : script_(std::move(script)), listener_(BoundV4()) {
  Start(accept_delay, backlog);
}

ScriptServer::ScriptServer(Script script, UniqueFd bound, int backlog)
    : script_(std::move(script)), listener_(std::move(bound)) {
  Start({}, backlog);
}

void ScriptServer::Start(std::chrono::nanoseconds accept_delay, int backlog) {
  port_ = PortOf(listener_);
  Check(::listen(listener_.get(), backlog) == 0, "listen");
  acceptor_ = std::thread([this, accept_delay] { AcceptLoop(accept_delay); });
}

ScriptServer::~ScriptServer() {
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
    for (const Peer* peer : peers_) ::shutdown(peer->fd_.get(), SHUT_RDWR);
  }
  stopped_changed_.notify_all();
  ::shutdown(listener_.get(), SHUT_RDWR);
  acceptor_.join();
  for (std::thread& script : scripts_) script.join();
}

bool ScriptServer::WaitOrStop(std::chrono::nanoseconds duration) {
  std::unique_lock lock(mutex_);
  return !stopped_changed_.wait_for(lock, duration, [this] { return stopped_; });
}

void ScriptServer::AcceptLoop(std::chrono::nanoseconds delay) {
  if (!WaitOrStop(delay)) return;
  for (;;) {
    UniqueFd fd(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (!fd.valid()) return;
    const int index = accepted_++;
    scripts_.emplace_back([this, index, accepted = std::move(fd)]() mutable {
      RunScript(std::move(accepted), index);
    });
  }
}

void ScriptServer::RunScript(UniqueFd fd, int index) {
  Peer peer(*this, std::move(fd), index);
  {
    const std::lock_guard lock(mutex_);
    if (stopped_) return;
    peers_.push_back(&peer);
  }
  script_(peer);
  peer.wire_.reset();
  const std::lock_guard lock(mutex_);
  std::erase(peers_, &peer);
  peer.fd_.Reset();
}

UniqueFd BoundV6() {
  sockaddr_in6 address{};
  address.sin6_family = AF_INET6;
  address.sin6_addr = in6addr_loopback;
  return Bound(&address, sizeof(address));
}

UniqueFd BoundUnix(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof(address.sun_path) - 1);
  const bool abstract = path.front() == '@';
  if (abstract) address.sun_path[0] = '\0';
  const std::size_t size = offsetof(sockaddr_un, sun_path) + path.size() + (abstract ? 0 : 1);
  return Bound(&address, static_cast<socklen_t>(size));
}

std::uint16_t ClosedPort() { return PortOf(BoundV4()); }

}  // namespace throttletest::testing_support
