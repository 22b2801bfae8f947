#include "socket_stream.h"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

namespace burn_server {
namespace {

// For a request that has begun. Generous: under a small quota this process may stand still for
// long.
constexpr std::chrono::milliseconds kTransferTimeout{30000};
constexpr std::size_t kBufferBytes = 8192;

}  // namespace

SocketStream::SocketStream(throttletest::internal::UniqueFd socket, int stop_fd)
    : socket_(std::move(socket)), stop_fd_(stop_fd) {}

bool SocketStream::WaitForRequest(std::chrono::milliseconds timeout) {
  if (in_at_ < in_.size()) return true;
  return Wait(POLLIN, timeout) && Fill() > 0;
}

bool SocketStream::Wait(short events, std::chrono::milliseconds timeout) const {
  std::array<pollfd, 2> fds{{{socket_.get(), events, 0}, {stop_fd_, POLLIN, 0}}};
  int ready = 0;
  do {
    ready = ::poll(fds.data(), fds.size(), static_cast<int>(timeout.count()));
  } while (ready < 0 && errno == EINTR);
  return ready > 0 && fds[1].revents == 0;
}

ssize_t SocketStream::Fill() {
  in_.resize(kBufferBytes);
  in_at_ = 0;
  ssize_t got = -1;
  for (;;) {
    got = ::recv(socket_.get(), in_.data(), in_.size(), 0);
    if (got >= 0) break;
    if (errno == EINTR) continue;
    if (errno != EAGAIN || !Wait(POLLIN, kTransferTimeout)) break;
  }
  in_.resize(static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
  return got;
}

bool SocketStream::Flush() {
  std::size_t at = 0;
  while (at < out_.size()) {
    const auto sent = ::send(socket_.get(), out_.data() + at, out_.size() - at, MSG_NOSIGNAL);
    if (sent >= 0) {
      at += static_cast<std::size_t>(sent);
    } else if (errno != EINTR && (errno != EAGAIN || !Wait(POLLOUT, kTransferTimeout))) {
      break;
    }
  }
  const bool all = at == out_.size();
  out_.clear();
  return all;
}

bool SocketStream::is_readable() const { return true; }

bool SocketStream::is_writable() const { return true; }

ssize_t SocketStream::read(char* ptr, size_t size) {
  if (in_at_ == in_.size()) {
    // The peer may wait for what was written ("100 Continue") before it sends more.
    if (!out_.empty() && !Flush()) return -1;
    const auto got = Fill();
    if (got <= 0) return got;
  }
  const auto count = std::min(size, in_.size() - in_at_);
  std::memcpy(ptr, in_.data() + in_at_, count);
  in_at_ += count;
  return static_cast<ssize_t>(count);
}

ssize_t SocketStream::write(const char* ptr, size_t size) {
  out_.append(ptr, size);
  return static_cast<ssize_t>(size);
}

// Nobody asks for the peer: two system calls a request less.
void SocketStream::get_remote_ip_and_port(std::string& ip, int& port) const {
  ip.clear();
  port = 0;
}

void SocketStream::get_local_ip_and_port(std::string& ip, int& port) const {
  ip.clear();
  port = 0;
}

// cpp-httplib refuses descriptors that do not fit select(). This stream polls, so any will do.
socket_t SocketStream::socket() const { return INVALID_SOCKET; }

}  // namespace burn_server
