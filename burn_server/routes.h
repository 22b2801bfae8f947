// What the server answers, without any HTTP library: /burn, /healthz and the errors.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "burn_request.h"
#include "work_gate.h"

namespace burn_server {

// The part of a GET request that matters here.
struct HttpRequest {
  std::string path;
  QueryParameters parameters;
};

struct HttpReply {
  int status = 200;
  std::string content_type;
  std::string body;
};

// Answers requests; shared by all connections, thread-safe.
class Routes {
 public:
  // The gate must outlive the routes.
  Routes(std::uint64_t iterations_per_ms, WorkGate& gate);

  // /burn: 200 with JSON {cpu_ms, wall_ms, queued_ms, iterations, checksum}; 400 with the reason;
  // 429
  //        when the queue is full; 503 when the server stops or the memory cannot be had.
  // /healthz: 200 "ok", also while all workers are busy. Anything else: 404.
  HttpReply Answer(const HttpRequest& request);

  // Burns that run end early, those that wait are turned away.
  void Stop();

 private:
  HttpReply AnswerBurn(const QueryParameters& parameters);

  const std::uint64_t iterations_per_ms_;
  WorkGate& gate_;
  std::atomic<bool> stop_{false};
};

// A JSON error body: {"error": reason}.
HttpReply ErrorReply(int status, const std::string& reason);

}  // namespace burn_server
