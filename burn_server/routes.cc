#include "routes.h"

#include <fmt/format.h>

#include <chrono>
#include <new>
#include <nlohmann/json.hpp>

#include "burn.h"

namespace burn_server {
namespace {

using Clock = std::chrono::steady_clock;

double Milliseconds(std::chrono::nanoseconds duration) {
  return std::chrono::duration<double, std::milli>(duration).count();
}

// By hand: this is the hot path, and every value is a number or hexadecimal text. The checksum is
// text because a JSON number does not hold 64 bits everywhere.
HttpReply BurnReply(const BurnResult& result, std::chrono::nanoseconds queued) {
  return {200, "application/json",
          fmt::format("{{\"cpu_ms\":{:.3f},\"wall_ms\":{:.3f},\"queued_ms\":{:.3f},"
                      "\"iterations\":{},\"checksum\":\"{:016x}\"}}\n",
                      Milliseconds(result.cpu), Milliseconds(result.wall), Milliseconds(queued),
                      result.iterations, result.checksum)};
}

}  // namespace

Routes::Routes(std::uint64_t iterations_per_ms, WorkGate& gate)
    : iterations_per_ms_(iterations_per_ms), gate_(gate) {}

HttpReply Routes::Answer(const HttpRequest& request) {
  if (request.path == "/burn") return AnswerBurn(request.parameters);
  if (request.path == "/healthz") return {200, "text/plain", "ok"};
  return ErrorReply(404, fmt::format("no such path \"{}\"; there are /burn?ms=N&mb=M and /healthz",
                                     request.path));
}

HttpReply Routes::AnswerBurn(const QueryParameters& parameters) {
  const auto parsed = ParseBurnRequest(parameters);
  if (const auto* bad = std::get_if<BadRequest>(&parsed)) return ErrorReply(400, bad->reason);
  const auto& wanted = std::get<BurnRequest>(parsed);

  const auto arrived = Clock::now();
  const WorkGate::Pass pass(gate_);
  if (pass.outcome() == WorkGate::Outcome::kFull) {
    return ErrorReply(429,
                      "the queue is full: all workers are busy and --queue-depth requests wait");
  }
  if (pass.outcome() == WorkGate::Outcome::kStopped) {
    return ErrorReply(503, "the server is stopping");
  }
  const auto queued = Clock::now() - arrived;
  try {
    const auto cpu_start = ThreadCpuTime();
    const auto wall_start = Clock::now();
    const HeldMemory memory(wanted.mb, stop_);
    auto result = Burn(wanted.Iterations(iterations_per_ms_), stop_);
    // Touching the memory is work of the request too.
    result.cpu = ThreadCpuTime() - cpu_start;
    result.wall = Clock::now() - wall_start;
    if (result.stopped) return ErrorReply(503, "the server is stopping");
    return BurnReply(result, queued);
  } catch (const std::bad_alloc&) {
    return ErrorReply(503, fmt::format("the kernel refused to map mb={} MiB", wanted.mb));
  }
}

void Routes::Stop() {
  stop_.store(true, std::memory_order_relaxed);
  gate_.Stop();
}

HttpReply ErrorReply(int status, const std::string& reason) {
  // A path or parameter may hold any bytes; what is not UTF-8 is replaced instead of thrown about.
  const nlohmann::json body = {{"error", reason}};
  return {status, "application/json",
          body.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n"};
}

}  // namespace burn_server
