// Deadlines: which request times out next. Requests of one kind come in order of their intended
// start, so each kind's are a queue and no heap is needed.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <vector>

#include "load/clock.h"
#include "throttletest/load/request.h"

namespace throttletest::internal {

class Deadlines {
 public:
  explicit Deadlines(const std::vector<Request>& requests) {
    for (const Request& request : requests) {
      timeouts_.push_back(request.timeout.count());
      const auto known = std::find_if(queues_.begin(), queues_.end(), [&](const Queue& q) {
        return q.timeout_ns == timeouts_.back();
      });
      queue_of_.push_back(static_cast<std::size_t>(known - queues_.begin()));
      if (known == queues_.end()) queues_.push_back({timeouts_.back(), {}});
    }
  }

  // When a request of this kind times out.
  std::int64_t Of(std::int64_t intended_ns, std::size_t kind) const {
    const std::int64_t timeout = timeouts_[kind];
    return intended_ns > kNever - timeout ? kNever : intended_ns + timeout;
  }

  void Clear() {
    for (Queue& queue : queues_) queue.entries.clear();
  }

  void Add(std::int64_t request, std::int64_t intended_ns, std::size_t kind) {
    queues_[queue_of_[kind]].entries.push_back({request, Of(intended_ns, kind)});
  }

  // The earliest deadline; it may be that of a request that is done since. Absent: kNever.
  std::int64_t Next() const {
    std::int64_t next = kNever;
    for (const Queue& queue : queues_) {
      if (!queue.entries.empty()) next = std::min(next, queue.entries.front().deadline_ns);
    }
    return next;
  }

  // Calls expire(request) for those whose deadline is not after `now` and for which done(request)
  // is false, and forgets all that are done.
  template <typename Done, typename Expire>
  void ExpireUntil(std::int64_t now, Done done, Expire expire) {
    for (Queue& queue : queues_) {
      while (!queue.entries.empty()) {
        const Entry entry = queue.entries.front();
        const bool is_done = done(entry.request);
        if (!is_done && entry.deadline_ns > now) break;
        queue.entries.pop_front();
        if (!is_done) expire(entry.request);
      }
    }
  }

 private:
  struct Entry {
    std::int64_t request;
    std::int64_t deadline_ns;
  };
  struct Queue {
    std::int64_t timeout_ns;
    std::deque<Entry> entries;
  };

  std::vector<std::int64_t> timeouts_;  // by kind
  std::vector<std::size_t> queue_of_;   // by kind
  std::vector<Queue> queues_;           // one for each different timeout
};

}  // namespace throttletest::internal
