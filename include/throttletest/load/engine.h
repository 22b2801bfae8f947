// LoadEngine: sends a schedule's requests at their instants from one thread of its own.
//
//   LoadEngine engine({.port = port}, Get("/burn?ms=20"), {});
//   LoadResult warm = engine.Run(plan.warm_up());
//   LoadResult run  = engine.Run(plan.measured());
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <stop_token>
#include <vector>

#include "throttletest/load/record.h"
#include "throttletest/load/request.h"
#include "throttletest/load/schedule.h"

namespace throttletest {

struct LoadEngineOptions {
  int max_in_flight = 4096;
  // Time from Run() to the first intended start, used to open connections. Units: >= 0.
  std::chrono::nanoseconds lead = std::chrono::milliseconds(200);
  // A request sent more than this after its intended start is marked as late. Units: > 0.
  std::chrono::nanoseconds late_after = std::chrono::milliseconds(10);
  // Called about ten times a second on the engine's thread with requests done and planned so far.
  std::function<void(std::int64_t done, std::int64_t planned)> progress = {};
  // Called as often on the same thread with the records so far; those of requests without a fate
  // yet say kNotSent. True ends the schedule: nothing further is sent, what is under way is waited
  // for, and the result knows only of what was sent.
  std::function<bool(const LoadResult& so_far)> enough = {};
};

// An open-loop client of HTTP/1.1 or of a Transport: one thread, an epoll set of its own,
// connections opened ahead of each batch and kept alive. Nothing a response does can move an
// intended start. Move-only; not thread-safe; the thread runs only inside Run().
class LoadEngine {
 public:
  // Errors: kInvalidArgument for a bad request or endpoint, or when some requests are HTTP and
  // others have a transport. With transports the endpoint is not used.
  LoadEngine(const Endpoint& endpoint, Request request, LoadEngineOptions options);
  // Several requests: RequestRecord::kind and Schedule::KindOf() are indices into them.
  LoadEngine(const Endpoint& endpoint, std::vector<Request> requests, LoadEngineOptions options);
  LoadEngine(LoadEngine&&) noexcept;
  LoadEngine& operator=(LoadEngine&&) noexcept;
  ~LoadEngine();

  // Runs the whole schedule and drains: returns when the last request is answered, failed or timed
  // out. On a stop request nothing further is sent (the rest is "not sent"), requests under way are
  // given up and `interrupted` is set. Errors: kLoad when the engine itself cannot work;
  // kInvalidArgument for a schedule with a kind that there is no request for.
  LoadResult Run(const Schedule& schedule, std::stop_token stop = {});

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace throttletest
