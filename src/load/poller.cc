#include "load/poller.h"

#include <fmt/format.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <system_error>
#include <utility>

#include "throttletest/base/error.h"

namespace throttletest::internal {
namespace {

using std::chrono::steady_clock;

// A timer that turned out too early is left alone when it is this far off: that wake-up may never
// come, and moving the timer for every answer costs more.
constexpr auto kLazyTimer = std::chrono::milliseconds(20);

constexpr int kEventsPerRound = 128;

UniqueFd Checked(int fd, const char* what) {
  if (fd < 0) {
    throw Error(ErrorCode::kLoad, fmt::format("the load engine cannot wait: {}: {}", what,
                                              std::generic_category().message(errno)));
  }
  return UniqueFd(fd);
}

int Control(int epoll, int operation, int fd, std::uint32_t events, void* tag) {
  epoll_event event{};
  event.events = events | EPOLLET;
  event.data.ptr = tag;
  return ::epoll_ctl(epoll, operation, fd, &event) == 0 ? 0 : errno;
}

timespec ToTimespec(Poller::Time time) {
  // A time of zero would switch the timer off.
  const auto ns = std::max<std::int64_t>(1, time.time_since_epoch().count());
  return {.tv_sec = static_cast<time_t>(ns / 1'000'000'000),
          .tv_nsec = static_cast<long>(ns % 1'000'000'000)};
}

}  // namespace

Poller::Poller()
    : epoll_(Checked(::epoll_create1(EPOLL_CLOEXEC), "epoll_create1")),
      // An absolute timer of its own: the kernel grants sleeps 50 us of slack, but not timers.
      timer_(
          Checked(::timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC), "timerfd_create")),
      wake_(Checked(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC), "eventfd")) {
  // Edge-triggered, so that neither has to be read: setting and writing them are new edges.
  for (UniqueFd* own : {&timer_, &wake_}) {
    if (const int error = Control(epoll_.get(), EPOLL_CTL_ADD, own->get(), EPOLLIN, own)) {
      errno = error;
      Checked(-1, "epoll_ctl");
    }
  }
}

int Poller::Watch(int fd, std::uint32_t events, ReadyHandler& handler) {
  return Control(epoll_.get(), EPOLL_CTL_ADD, fd, events, &handler);
}

void Poller::Change(int fd, std::uint32_t events, ReadyHandler& handler) {
  Control(epoll_.get(), EPOLL_CTL_MOD, fd, events, &handler);
}

void Poller::Forget(int fd, ReadyHandler& handler) {
  // Closing it would do the same, unless a child process that is just being started has it, too.
  if (fd >= 0) Control(epoll_.get(), EPOLL_CTL_DEL, fd, 0, nullptr);
  const auto is_its = [&](const auto& call) { return call.handler == &handler; };
  for (std::size_t i = next_; i < ready_.size(); ++i) {
    if (is_its(ready_[i])) ready_[i].handler = nullptr;
  }
  std::erase_if(again_, is_its);
  std::erase_if(timers_, [&](const auto& timer) { return timer.second == &handler; });
}

void Poller::Again(ReadyHandler& handler, std::uint32_t events) {
  again_.push_back({&handler, events});
}

void Poller::AgainAt(Time at, ReadyHandler& handler) { timers_.emplace(at, &handler); }

void Poller::Wake() {
  const std::uint64_t one = 1;
  // It fails only when the counter is full, and then the wake-up is on its way already.
  [[maybe_unused]] const ssize_t written = ::write(wake_.get(), &one, sizeof(one));
}

void Poller::Post(std::function<void()> task) {
  bool first = false;
  {
    const std::lock_guard lock(mutex_);
    first = posted_.empty();
    posted_.push_back(std::move(task));
  }
  if (first) Wake();
}

bool Poller::RunOne(Time until) {
  if (CallNext()) return true;
  Collect(until);
  // First the instant: connections that are ready without a pause would put it off for ever.
  if (std::exchange(timer_fired_, false)) return false;
  return CallNext();
}

bool Poller::CallNext() {
  while (next_ < ready_.size()) {
    const Call call = ready_[next_++];
    if (call.handler == nullptr) continue;
    call.handler->OnReady(call.events);
    return true;
  }
  if (next_task_ < tasks_.size()) {
    const std::function<void()> task = std::move(tasks_[next_task_++]);
    task();
    return true;
  }
  return false;
}

void Poller::Collect(Time until) {
  ready_.clear();
  next_ = 0;
  const bool wait = again_.empty() && until > Time::min();
  if (until > Time::min()) Arm(timers_.empty() ? until : std::min(until, timers_.begin()->first));
  std::array<epoll_event, kEventsPerRound> events;
  const int n = ::epoll_wait(epoll_.get(), events.data(), kEventsPerRound, wait ? -1 : 0);
  for (int i = 0; i < n; ++i) {
    const epoll_event& event = events[static_cast<std::size_t>(i)];
    if (event.data.ptr == &timer_) {
      armed_ = kForever;
      timer_fired_ = true;
    } else if (event.data.ptr == &wake_) {
      CollectTasks();
    } else {
      ready_.push_back({static_cast<ReadyHandler*>(event.data.ptr), event.events});
    }
  }
  if (!timers_.empty()) CollectTimers();
  ready_.insert(ready_.end(), again_.begin(), again_.end());
  again_.clear();
}

void Poller::CollectTimers() {
  const auto due = timers_.upper_bound(steady_clock::now());
  for (auto timer = timers_.begin(); timer != due; timer = timers_.erase(timer)) {
    ready_.push_back({timer->second, 0});
  }
}

void Poller::CollectTasks() {
  tasks_.clear();
  next_task_ = 0;
  const std::lock_guard lock(mutex_);
  tasks_.swap(posted_);
}

void Poller::Arm(Time want) {
  if (want == armed_ || want == kForever) return;
  if (want > armed_ && armed_ > steady_clock::now() + kLazyTimer) return;
  const itimerspec setting{.it_interval = {}, .it_value = ToTimespec(want)};
  ::timerfd_settime(timer_.get(), TFD_TIMER_ABSTIME, &setting, nullptr);
  armed_ = want;
}

}  // namespace throttletest::internal
