#include <fmt/format.h>

#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "throttletest/base/error.h"
#include "throttletest/load/transport.h"

namespace throttletest {
namespace {

constexpr int kMaxThreads = 1024;

using Function = std::function<TransportResult(const TransportCall&)>;

// Threads that take calls from a queue. What is still queued at the end is not called any more.
class Workers {
 public:
  Workers(int threads, Function function) : function_(std::move(function)) {
    threads_.reserve(static_cast<std::size_t>(threads));
    for (int i = 0; i < threads; ++i) threads_.emplace_back([this] { Work(); });
  }
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;
  ~Workers() {
    {
      const std::lock_guard lock(mutex_);
      ending_ = true;
    }
    work_.notify_all();
    for (std::thread& thread : threads_) thread.join();
  }

  void Add(const TransportCall& call, TransportDone done) {
    {
      const std::lock_guard lock(mutex_);
      calls_.emplace_back(call, std::move(done));
    }
    work_.notify_one();
  }

 private:
  void Work() {
    for (;;) {
      std::unique_lock lock(mutex_);
      work_.wait(lock, [this] { return ending_ || !calls_.empty(); });
      if (ending_) return;
      const auto [call, done] = std::move(calls_.front());
      calls_.pop_front();
      lock.unlock();
      done(Call(call));
    }
  }

  TransportResult Call(const TransportCall& call) const {
    try {
      return function_(call);
    } catch (const std::exception& e) {
      return {.ok = false, .reason = fmt::format("the transport threw: {}", e.what())};
    } catch (...) {
      return {.ok = false, .reason = "the transport threw"};
    }
  }

  const Function function_;
  std::mutex mutex_;
  std::condition_variable work_;
  std::deque<std::pair<TransportCall, TransportDone>> calls_;
  bool ending_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace

Transport Blocking(int threads, Function function) {
  if (threads < 1 || threads > kMaxThreads) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("{} threads for a blocking transport are out of range 1..{}", threads,
                            kMaxThreads));
  }
  auto workers = std::make_shared<Workers>(threads, std::move(function));
  return [workers](const TransportCall& call, TransportDone done) {
    workers->Add(call, std::move(done));
  };
}

}  // namespace throttletest
