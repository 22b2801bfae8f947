#include "service/log_tail.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "throttletest/base/error.h"

namespace throttletest::internal {

void TailBuffer::Append(std::string_view text) {
  text_.append(text);
  if (text_.size() > 2 * capacity_) {
    text_.erase(0, text_.size() - capacity_);
    dropped_ = true;
  }
}

std::string TailBuffer::Text() const {
  if (text_.size() <= capacity_ && !dropped_) return text_;
  std::string tail = text_.substr(text_.size() > capacity_ ? text_.size() - capacity_ : 0);
  const auto line_end = tail.find('\n');
  if (line_end != std::string::npos && line_end + 1 < tail.size()) tail.erase(0, line_end + 1);
  return tail;
}

LogTail::LogTail() : stop_(::eventfd(0, EFD_CLOEXEC)) {
  std::array<int, 2> ends{-1, -1};
  if (!stop_.valid() || ::pipe2(ends.data(), O_CLOEXEC) != 0) {
    throw Error(ErrorCode::kServiceStart,
                fmt::format("no pipe for the service's output: {}", std::strerror(errno)));
  }
  read_end_ = UniqueFd(ends[0]);
  write_end_ = UniqueFd(ends[1]);
  ::fcntl(read_end_.get(), F_SETFL, O_NONBLOCK);
  // Room for a burst of lines while this process waits for a CPU. Refused without harm where the
  // user's limit for pipes is used up.
  ::fcntl(read_end_.get(), F_SETPIPE_SZ, 1 << 20);
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  thread_ = std::thread([this] { Drain(); });
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

std::string LogTail::Text() const {
  const std::lock_guard lock(mutex_);
  return tail_.Text();
}

void LogTail::Stop() {
  if (!thread_.joinable()) return;
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = ::write(stop_.get(), &one, sizeof(one));
  thread_.join();
}

bool LogTail::ReadSome() {
  std::array<char, std::size_t{16} * 1024> buffer;
  const ssize_t size = ::read(read_end_.get(), buffer.data(), buffer.size());
  if (size < 0) return errno == EINTR;
  if (size == 0) return false;
  const std::lock_guard lock(mutex_);
  tail_.Append(std::string_view(buffer.data(), static_cast<std::size_t>(size)));
  return true;
}

void LogTail::Drain() {
  while (true) {
    std::array<pollfd, 2> watched = {{{.fd = read_end_.get(), .events = POLLIN, .revents = 0},
                                      {.fd = stop_.get(), .events = POLLIN, .revents = 0}}};
    if (::poll(watched.data(), watched.size(), -1) < 0 && errno != EINTR) return;
    if (watched[1].revents != 0) break;
    if (watched[0].revents != 0 && !ReadSome() && errno != EAGAIN) return;
  }
  // All writers that matter have ended; one that escaped and writes on must not keep us.
  for (int i = 0; i < 128 && ReadSome(); ++i) {
  }
}

}  // namespace throttletest::internal
