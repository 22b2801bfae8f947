#include "thread_cache.h"

#include <system_error>
#include <utility>

namespace burn_server {

void ThreadCache::Run(std::function<void()> job) {
  const std::lock_guard lock(mutex_);
  jobs_.push_back(std::move(job));
  if (jobs_.size() > idle_ && threads_.size() < max_threads_) {
    try {
      threads_.emplace_back([this] { Work(); });
      return;
    } catch (const std::system_error&) {
      // The limit on processes is reached: the job waits for a thread that there is.
      if (threads_.empty()) throw;
    }
  }
  work_.notify_one();
}

void ThreadCache::Join() {
  {
    const std::lock_guard lock(mutex_);
    joining_ = true;
    work_.notify_all();
  }
  for (auto& thread : threads_) thread.join();
  threads_.clear();
}

std::size_t ThreadCache::threads() const {
  const std::lock_guard lock(mutex_);
  return threads_.size();
}

void ThreadCache::Work() {
  std::unique_lock lock(mutex_);
  for (;;) {
    ++idle_;
    work_.wait(lock, [this] { return joining_ || !jobs_.empty(); });
    --idle_;
    if (jobs_.empty()) return;
    const auto job = std::move(jobs_.front());
    jobs_.pop_front();
    lock.unlock();
    job();
    lock.lock();
  }
}

}  // namespace burn_server
