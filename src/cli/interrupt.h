// Interrupt: turns SIGINT, SIGTERM, SIGHUP and SIGQUIT into a stop request, so that the service is
// stopped and removed in order.
#pragma once

#include <csignal>

#include <stop_token>
#include <thread>

namespace throttletest::cli {

// Blocks these signals in this thread and in every thread made afterwards, and waits for them on a
// thread of its own. A second signal ends the program at once. Make it before any other thread.
class Interrupt {
 public:
  Interrupt();
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;
  ~Interrupt();

  std::stop_token token() const { return stop_.get_token(); }
  bool requested() const { return stop_.stop_requested(); }

 private:
  sigset_t signals_{};
  sigset_t previous_{};
  std::stop_source stop_;
  std::jthread waiter_;
};

}  // namespace throttletest::cli
