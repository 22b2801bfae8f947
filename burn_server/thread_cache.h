// ThreadCache: a thread for every job at once, threads kept for the next jobs.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace burn_server {

// Runs every job on a thread of its own, up to a maximum; beyond it jobs wait. A thread that has
// nothing to do sleeps and costs no CPU.
//
// Thread-safe. Jobs must not throw.
class ThreadCache {
 public:
  explicit ThreadCache(std::size_t max_threads) : max_threads_(max_threads) {}
  ThreadCache(const ThreadCache&) = delete;
  ThreadCache& operator=(const ThreadCache&) = delete;
  ~ThreadCache() { Join(); }

  void Run(std::function<void()> job);
  // Runs what is queued and ends all threads. Nothing may be Run after it.
  void Join();

  std::size_t threads() const;

 private:
  void Work();

  const std::size_t max_threads_;
  mutable std::mutex mutex_;
  std::condition_variable work_;
  std::deque<std::function<void()>> jobs_;
  std::vector<std::thread> threads_;
  std::size_t idle_ = 0;
  bool joining_ = false;
};

}  // namespace burn_server
