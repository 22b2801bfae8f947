// The floor: what the requests themselves cost. One thread, one epoll loop, nothing but writing and
// reading: no parsing, no timeouts, no failures, no records beyond the time of each write.
//
//   g++ -O2 -std=c++20 tests/bench/floor.cc -o floor
//   ./floor --port 8080 --size 64 --interval-us 12800 --duration-s 10
#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>

#include <vector>

#include "keep_alive.h"

namespace throttletest::bench {
namespace {

constexpr int kDrainMs = 2000;

// At an absolute time, which the kernel keeps to the microsecond; the timeout of a wait in epoll
// may be late by a thousandth of its length. Edge-triggered: it need not be read.
class Timer {
 public:
  explicit Timer(int epoll) : fd_(timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC)) {
    epoll_event event{.events = EPOLLIN | EPOLLET, .data = {.ptr = nullptr}};
    if (fd_ < 0 || epoll_ctl(epoll, EPOLL_CTL_ADD, fd_, &event) != 0) DieOfCall("timerfd");
  }
  void Set(std::int64_t instant) const {
    const itimerspec at{.it_interval = {},
                        .it_value = {instant / 1'000'000'000, instant % 1'000'000'000}};
    timerfd_settime(fd_, TFD_TIMER_ABSTIME, &at, nullptr);
  }

 private:
  int fd_;
};

struct Connection {
  int fd;
  std::size_t missing;  // bytes of the answer under way
};

Outcome Run(const Options& options) {
  const std::string request = RequestText(options);
  const int epoll = epoll_create1(EPOLL_CLOEXEC);
  const Timer timer(epoll);
  std::vector<Connection> connections(static_cast<std::size_t>(options.connections));
  std::vector<Connection*> idle;
  std::size_t answer_size = 0;
  for (Connection& connection : connections) {
    connection = {Connect(options.port), 0};
    answer_size = MeasureAnswer(connection.fd, request);
    fcntl(connection.fd, F_SETFL, O_NONBLOCK);
    epoll_event event{.events = EPOLLIN, .data = {.ptr = &connection}};
    if (epoll_ctl(epoll, EPOLL_CTL_ADD, connection.fd, &event) != 0) DieOfCall("epoll_ctl");
    idle.push_back(&connection);
  }

  Outcome outcome;
  const std::int64_t planned = options.planned();
  outcome.writes.resize(static_cast<std::size_t>(planned));
  std::int64_t sent = 0;
  std::int64_t batch = 0;
  std::int64_t batch_end = options.size;  // number of the first request of the next batch
  std::vector<epoll_event> events(256);
  char buffer[16384];
  const std::int64_t cpu_before = ReadClock(CLOCK_THREAD_CPUTIME_ID);
  const std::int64_t epoch = Now() + 10'000'000;
  std::int64_t due = epoch;
  std::int64_t armed = due;
  timer.Set(due);
  std::int64_t now = Now();
  while (outcome.answered < planned) {
    while (sent < planned && due <= now && !idle.empty()) {
      Connection& connection = *idle.back();
      idle.pop_back();
      now = Now();
      WriteRequest(connection.fd, request);
      connection.missing = answer_size;
      outcome.writes[static_cast<std::size_t>(sent)] = {now - epoch, batch};
      if (++sent == batch_end) {
        ++batch;
        batch_end += options.size;
        due = epoch + batch * options.interval_ns();
      }
    }
    if (due > now && sent < planned && due != armed) timer.Set(armed = due);
    const int timeout_ms = sent == planned || idle.empty() ? kDrainMs : -1;
    const int ready = epoll_wait(epoll, events.data(), static_cast<int>(events.size()), timeout_ms);
    if (ready == 0) break;
    for (int i = 0; i < ready; ++i) {
      if (events[static_cast<std::size_t>(i)].data.ptr == nullptr) continue;  // the timer
      auto& connection = *static_cast<Connection*>(events[static_cast<std::size_t>(i)].data.ptr);
      const ssize_t n = recv(connection.fd, buffer, sizeof buffer, 0);
      if (n <= 0 || static_cast<std::size_t>(n) > connection.missing) Die("unexpected answer");
      connection.missing -= static_cast<std::size_t>(n);
      if (connection.missing == 0) {
        ++outcome.answered;
        idle.push_back(&connection);
      }
    }
    now = Now();
  }
  outcome.cpu_ns = ReadClock(CLOCK_THREAD_CPUTIME_ID) - cpu_before;
  outcome.writes.resize(static_cast<std::size_t>(sent));
  return outcome;
}

}  // namespace
}  // namespace throttletest::bench

int main(int argc, char** argv) {
  using namespace throttletest::bench;
  const Options options = ParseOptions(argc, argv);
  Print("floor", options, Run(options));
}
