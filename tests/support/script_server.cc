#include "support/script_server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <array>
#include <charconv>
#include <system_error>

namespace throttletest::testing_support {
namespace {

using internal::UniqueFd;

void Check(bool ok, const char* what) {
  if (!ok) throw std::system_error(errno, std::generic_category(), what);
}

// A socket bound to a free port of 127.0.0.1.
UniqueFd BoundSocket(std::uint16_t* port) {
  UniqueFd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  Check(fd.valid(), "socket");
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  Check(::bind(fd.get(), generic, size) == 0, "bind");
  Check(::getsockname(fd.get(), generic, &size) == 0, "getsockname");
  *port = ntohs(address.sin_port);
  return fd;
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
    const ssize_t n = ::recv(fd_.get(), buffer.data(), buffer.size(), 0);
    if (n <= 0) return std::nullopt;
    rest_.append(buffer.data(), static_cast<std::size_t>(n));
  }
}

bool Peer::Send(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::send(fd_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (n <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
  return true;
}

bool Peer::Wait(std::chrono::nanoseconds duration) { return server_.WaitOrStop(duration); }

void Peer::Reset() {
  const linger now{.l_onoff = 1, .l_linger = 0};
  ::setsockopt(fd_.get(), SOL_SOCKET, SO_LINGER, &now, sizeof(now));
  const std::lock_guard lock(server_.mutex_);
  fd_.Reset();
}

ScriptServer::ScriptServer(Script script, std::chrono::nanoseconds accept_delay, int backlog)
    : script_(std::move(script)), listener_(BoundSocket(&port_)) {
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
  const std::lock_guard lock(mutex_);
  std::erase(peers_, &peer);
  peer.fd_.Reset();
}

std::uint16_t ClosedPort() {
  std::uint16_t port = 0;
  BoundSocket(&port);
  return port;
}

}  // namespace throttletest::testing_support
