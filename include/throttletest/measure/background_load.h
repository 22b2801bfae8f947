// BackgroundLoad: keeps one service busy while another is measured.
//
//   BackgroundLoad load(*heavy, Traffic(ConstantRate(4_rps).For(5s), Get("/report")));
//   const Measurement m = MeasureService(*light, plan, Get("/"));
//   const BackgroundUse use = load.Stop();
//
// A measurement during which it began, was stopped or lost its service is inconclusive.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "throttletest/cgroup/delta.h"
#include "throttletest/load/request.h"
#include "throttletest/load/traffic.h"
#include "throttletest/service/service.h"

namespace throttletest {

// As in MeasureOptions, of the service that is loaded.
struct BackgroundOptions {
  std::optional<TlsOptions> tls = {};
  std::string unix_path = {};
};

// What a background load did, from its beginning to the last answer.
struct BackgroundUse {
  std::string service = {};  // its name, or else its program
  std::string load = {};     // "4 requests/s for 5 s of GET /report"
  // Counts of requests: sent = ok + failed + timed_out.
  std::int64_t sent = 0;
  std::int64_t ok = 0;
  std::int64_t failed = 0;
  std::int64_t timed_out = 0;
  std::int64_t not_sent = 0;  // the service was behind, or the load was stopped
  // Of the loaded service; its wall time includes some 50 ms before the load.
  CgroupDelta cgroup = {};
  // Why it does not show a loaded service: that ended, was restarted, moved or OOM-killed, or
  // answered less than half of the requests as it should. Empty: it was loaded throughout.
  std::string trouble = {};

  // "heavy used 0.98 of 1 CPUs and was throttled in 48 of 50 periods, 12 of 12 requests answered".
  std::string ToString() const;
};

// Sends a traffic at a service over and over, from threads of its own, from its construction until
// Stop(). The traffic's warm-up is left out; between two repetitions everything that was sent is
// waited for, so that a backlog does not grow without end. Other processes do not measure
// meanwhile. Move-only; the service must outlive it, and must not be stopped before it.
class BackgroundLoad {
 public:
  // Returns when the first request is due. Errors: kInvalidArgument; kNotReady when the service has
  // ended; kUnsupported when others measure for too long.
  BackgroundLoad(Service& service, const Traffic& traffic, const BackgroundOptions& options = {});
  BackgroundLoad(BackgroundLoad&&) noexcept;
  BackgroundLoad& operator=(BackgroundLoad&&) noexcept;
  // Ends it and gives up what is under way.
  ~BackgroundLoad();

  // Sends nothing further, waits for what is under way, and says what was done. Idempotent. Errors:
  // kLoad when the load engine itself failed.
  BackgroundUse Stop();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace throttletest
