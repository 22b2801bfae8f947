// Transport: the hook for everything that is not HTTP - gRPC, a queue, a raw socket. A callable
// that the load engine calls at each intended start; schedule, in-flight limit, timeouts and
// records are those of HTTP requests.
//
//   Request echo = Custom("echo", [&](const TransportCall& call, TransportDone done) {
//     client.AsyncSend(Payload(call.number), [done](bool ok) { done({.ok = ok}); });
//   });
//   Measure(Batches(8).Every(1s), echo);
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>

namespace throttletest {

// One request that is due.
struct TransportCall {
  std::int64_t number = 0;  // how many calls the engine made before
  int kind = 0;             // which of the engine's requests it is: RequestRecord::kind
};

// What came of it.
struct TransportResult {
  bool ok = true;
  int status = 0;           // kept in RequestRecord::status; means what the transport wants
  std::string reason = {};  // why not ok, for LoadResult::failure_reasons. Empty: "failed"
};

namespace internal {
class CallSlot;
}

// To be called when the answer is in: once, from any thread, also within the transport itself. A
// call after the first, after the request's timeout or after the end of the engine does nothing.
class TransportDone {
 public:
  explicit TransportDone(std::weak_ptr<internal::CallSlot> slot, std::uint64_t use)
      : slot_(std::move(slot)), use_(use) {}
  void operator()(TransportResult result) const;

 private:
  std::weak_ptr<internal::CallSlot> slot_;
  std::uint64_t use_;
};

// Starts one call and returns at once: it runs on the engine's thread, and while it runs nothing
// else is sent. An exception counts as a failed request with its text as the reason.
using Transport = std::function<void(const TransportCall& call, TransportDone done)>;

// For clients that can only block: `threads` threads of their own call `function`. More requests
// under way than threads wait for one, and that wait is part of their service time; so choose as
// many threads as requests can be under way at once. The threads are joined when the last copy of
// the transport goes, so `function` must come back even when the service does not answer: give it a
// timeout. Errors: kInvalidArgument unless 1 <= threads <= 1024.
Transport Blocking(int threads, std::function<TransportResult(const TransportCall&)> function);

}  // namespace throttletest
