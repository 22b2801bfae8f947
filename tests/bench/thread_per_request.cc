// The usual way to send a batch at one instant: a thread for each of its requests, which sleeps up
// to the instant, writes, and waits for the answer.
//
//   g++ -O2 -std=c++20 -pthread tests/bench/thread_per_request.cc -o thread_per_request
//   ./thread_per_request --port 8080 --size 64 --interval-us 1000000 --duration-s 10
#include <sys/prctl.h>

#include <barrier>
#include <thread>
#include <vector>

#include "keep_alive.h"

namespace throttletest::bench {
namespace {

void SleepUntil(std::int64_t instant) {
  const timespec until{instant / 1'000'000'000, instant % 1'000'000'000};
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, nullptr) == EINTR) {
  }
}

// The requests with number `slot` in each batch.
void RunSlot(const Options& options, int slot, std::barrier<>& ready, const std::int64_t& epoch,
             std::vector<Sent>& writes) {
  const std::string request = RequestText(options);
  const int fd = Connect(options.port);
  const std::size_t answer_size = MeasureAnswer(fd, request);
  char buffer[16384];
  ready.arrive_and_wait();  // connected
  ready.arrive_and_wait();  // the epoch is set
  for (std::int64_t batch = 0; batch < options.batches(); ++batch) {
    SleepUntil(epoch + batch * options.interval_ns());
    Sent& sent = writes[static_cast<std::size_t>(batch * options.size + slot)];
    sent = {Now() - epoch, batch};
    WriteRequest(fd, request);
    for (std::size_t missing = answer_size; missing > 0;) {
      const ssize_t n = recv(fd, buffer, std::min(missing, sizeof buffer), 0);
      if (n <= 0) Die("the service closed the connection");
      missing -= static_cast<std::size_t>(n);
    }
  }
}

Outcome Run(const Options& options) {
  Outcome outcome;
  outcome.writes.resize(static_cast<std::size_t>(options.planned()));
  std::int64_t epoch = 0;
  std::barrier ready(options.size + 1);
  std::vector<std::thread> threads;
  for (int slot = 0; slot < options.size; ++slot) {
    threads.emplace_back([&, slot] { RunSlot(options, slot, ready, epoch, outcome.writes); });
  }
  ready.arrive_and_wait();
  const std::int64_t cpu_before = ReadClock(CLOCK_PROCESS_CPUTIME_ID);
  // Time for all of them to fall asleep.
  epoch = Now() + 200'000'000;
  ready.arrive_and_wait();
  for (std::thread& thread : threads) thread.join();
  outcome.cpu_ns = ReadClock(CLOCK_PROCESS_CPUTIME_ID) - cpu_before;
  outcome.answered = options.planned();
  return outcome;
}

}  // namespace
}  // namespace throttletest::bench

int main(int argc, char** argv) {
  using namespace throttletest::bench;
  const Options options = ParseOptions(argc, argv);
  // Wake at the instant, not up to 50 us later; threads inherit it.
  prctl(PR_SET_TIMERSLACK, 1);
  Print("thread_per_request", options, Run(options));
}
