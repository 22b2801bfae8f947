// Readiness: how to tell that a service can take load. A small value that a ServiceSpec carries.
//
//   HttpReady("/healthz").Within(30s)
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>

namespace throttletest {

// What a readiness check may look at: the narrowest view, so that checks are tested without a
// service.
struct ReadinessTarget {
  std::string host = {};
  std::uint16_t port = 0;
  std::function<std::string()> logs = {};  // the last 64 KiB the service wrote. Absent: not known
  // Longest time one try may take. A service under a small quota needs seconds for one answer.
  std::chrono::nanoseconds patience = std::chrono::seconds(5);
};

// A readiness check with its deadline. A check answers an empty text when ready, else why not
// (yet).
class Readiness {
 public:
  using Check = std::function<std::string(const ReadinessTarget&)>;
  // `description` is for messages: "GET /healthz answers 200".
  Readiness(std::string description, Check check);

  // How long a service may take. Units: > 0, default 60 s (small quotas make start-up slow).
  // Errors (all three): kInvalidArgument.
  Readiness Within(std::chrono::nanoseconds timeout) const;
  // Time between two checks. Units: > 0, default 50 ms.
  Readiness PollEvery(std::chrono::nanoseconds interval) const;
  // Number of successes in a row that count as ready. Units: >= 1, default 1.
  Readiness Stable(int successes) const;

  // False: the service may have no port at all.
  bool looks_at_port() const { return looks_at_port_; }

  const std::string& description() const { return description_; }
  std::string Try(const ReadinessTarget& target) const;
  std::chrono::nanoseconds timeout() const { return timeout_; }
  std::chrono::nanoseconds interval() const { return interval_; }
  int successes() const { return successes_; }

 private:
  std::string description_;
  Check check_;
  std::chrono::nanoseconds timeout_ = std::chrono::seconds(60);
  std::chrono::nanoseconds interval_ = std::chrono::milliseconds(50);
  int successes_ = 1;
  bool looks_at_port_ = true;

  friend Readiness UnixReady(std::string path);
};

// Ready when a GET of `target` is answered with `status`. An accepted connection that is reset or
// closed without an answer is not ready (a container engine's proxy accepts too early).
Readiness HttpReady(std::string target, int status = 200);
// Ready when a TCP connection is accepted and still open 20 ms later. Weaker than HttpReady.
Readiness TcpReady();
// Ready when a connection to this Unix socket is accepted: a path, or '@' and an abstract name. For
// a service without a port; see MeasureOptions::unix_path. Errors: kInvalidArgument for a path that
// the kernel does not take.
Readiness UnixReady(std::string path);
// Ready when a line of the log contains `text` and the port accepts a connection.
Readiness LogLineReady(std::string text);
// Ready when `ready` returns true; `description` is for messages.
Readiness CallableReady(std::string description, std::function<bool(const ReadinessTarget&)> ready);

}  // namespace throttletest
