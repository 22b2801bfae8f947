#include "service/launcher_thread.h"

#include <pthread.h>
#include <unistd.h>

#include <condition_variable>
#include <csignal>
#include <future>
#include <mutex>
#include <queue>
#include <thread>

namespace throttletest::internal {
namespace {

class LauncherThread {
 public:
  LauncherThread() {
    // The test's signal handlers must not run here, where services are forked.
    sigset_t all;
    sigset_t before;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before);
    std::thread([this] { Loop(); }).detach();
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }

  void Run(const std::function<void()>& job) {
    std::packaged_task<void()> task(job);
    std::future<void> done = task.get_future();
    {
      const std::lock_guard lock(mutex_);
      jobs_.push(std::move(task));
    }
    wake_.notify_one();
    done.get();
  }

 private:
  [[noreturn]] void Loop() {
    while (true) {
      std::unique_lock lock(mutex_);
      wake_.wait(lock, [this] { return !jobs_.empty(); });
      std::packaged_task<void()> task = std::move(jobs_.front());
      jobs_.pop();
      lock.unlock();
      task();
    }
  }

  std::mutex mutex_;
  std::condition_variable wake_;
  std::queue<std::packaged_task<void()>> jobs_;
};

}  // namespace

void RunOnLauncherThread(const std::function<void()>& job) {
  // A child forked by the test has no threads but its own and needs a new one. Never destroyed: the
  // thread ends with the process.
  static std::mutex mutex;
  static LauncherThread* thread = nullptr;
  static pid_t owner = 0;
  LauncherThread* current = nullptr;
  {
    const std::lock_guard lock(mutex);
    if (owner != ::getpid()) {
      thread = new LauncherThread;
      owner = ::getpid();
    }
    current = thread;
  }
  current->Run(job);
}

}  // namespace throttletest::internal
