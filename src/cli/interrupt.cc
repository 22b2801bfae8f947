#include "cli/interrupt.h"

#include <pthread.h>
#include <unistd.h>

#include <ctime>

#include "cli/exit_status.h"

namespace throttletest::cli {

Interrupt::Interrupt() {
  sigemptyset(&signals_);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) sigaddset(&signals_, signal);
  pthread_sigmask(SIG_BLOCK, &signals_, &previous_);
  waiter_ = std::jthread([this](const std::stop_token& done) {
    // A timed wait: the thread has to notice the destructor without a signal.
    const timespec slice{0, 100'000'000};
    while (!done.stop_requested()) {
      if (sigtimedwait(&signals_, nullptr, &slice) < 0) continue;
      // The watcher process still cleans up after this.
      if (!stop_.request_stop()) _exit(kInterrupted);
    }
  });
}

Interrupt::~Interrupt() {
  waiter_.request_stop();
  waiter_.join();
  pthread_sigmask(SIG_SETMASK, &previous_, nullptr);
}

}  // namespace throttletest::cli
