#include "service/end_watch.h"

#include <fmt/format.h>
#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>

#include "base/realtime_priority.h"
#include "throttletest/base/error.h"

namespace throttletest::internal {

EndWatch::EndWatch(UniqueFd process, const CgroupLocation& location)
    : process_(std::move(process)),
      stop_(::eventfd(0, EFD_CLOEXEC)),
      cgroup_(Cgroup::Open(location)) {
  if (!stop_.valid()) {
    throw Error(ErrorCode::kServiceStart,
                fmt::format("cannot watch the job: {}", std::strerror(errno)));
  }
  // Signals are for the threads of the program.
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  thread_ = std::thread([this] { Watch(); });
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

EndWatch::~EndWatch() {
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = ::write(stop_.get(), &one, sizeof one);
  thread_.join();
}

void EndWatch::Watch() {
  // The engine's own parts are woken by the same end, and on a busy machine this thread would wait
  // for its turn behind them. It sleeps but for the reading of some files.
  const RealtimePriority first;
  std::array<pollfd, 2> wait = {{{.fd = stop_.get(), .events = POLLIN, .revents = 0},
                                 {.fd = process_.get(), .events = POLLIN, .revents = 0}}};
  while (process_.valid()) {
    if (::poll(wait.data(), wait.size(), -1) < 0) continue;
    if (wait[0].revents != 0) return;
    if (wait[1].revents != 0) break;
  }
  SeenEnd end{.time = std::chrono::steady_clock::now()};
  try {
    end.counters = cgroup_.Read();
    end.left = cgroup_.Processes().size();
  } catch (const Error& e) {
    if (!end.counters) end.lack = e.what();
  }
  const std::lock_guard lock(mutex_);
  end_ = std::move(end);
  ended_.notify_all();
}

bool EndWatch::Wait(std::chrono::nanoseconds within) {
  std::unique_lock lock(mutex_);
  return ended_.wait_for(lock, within, [this] { return end_.has_value(); });
}

std::optional<SeenEnd> EndWatch::end() const {
  const std::lock_guard lock(mutex_);
  return end_;
}

}  // namespace throttletest::internal
