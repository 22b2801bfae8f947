#include "disturbance.h"

#include <sched.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <string>

#include "throttletest/base/error.h"

namespace throttletest::study {

pid_t Helper::Fork() {
  const pid_t pid = ::fork();
  if (pid < 0) throw Error(ErrorCode::kLoad, "fork() failed");
  if (pid == 0) ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  return pid;
}

void Helper::Leave() { ::_exit(0); }

Helper::~Helper() {
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
  // It may have been killed while this process was stopped: then it runs again by now, since it
  // could not have called kill() otherwise.
}

void Burn(int cpu) {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(static_cast<std::size_t>(cpu), &one);
  ::sched_setaffinity(0, sizeof(one), &one);
  std::atomic<std::uint64_t> turns{0};
  for (;;) turns.fetch_add(1, std::memory_order_relaxed);
}

void PauseParent(std::chrono::milliseconds between, std::chrono::milliseconds pause) {
  const pid_t parent = ::getppid();
  for (;;) {
    std::this_thread::sleep_for(between);
    ::kill(parent, SIGSTOP);
    std::this_thread::sleep_for(pause);
    ::kill(parent, SIGCONT);
  }
}

LimitFlip::LimitFlip(const Service& service, std::chrono::milliseconds after)
    : thread_([directory = service.cgroup().location().cpu->directory(),
               quota = service.requested().cpu.quota.value().count(), after] {
        std::this_thread::sleep_for(after);
        const std::string other = std::to_string(quota * 2);
        std::ofstream(directory + "/cpu.cfs_quota_us") << other;
        std::ofstream(directory + "/cpu.max") << other << " 100000";
      }) {}

}  // namespace throttletest::study
