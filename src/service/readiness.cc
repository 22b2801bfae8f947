#include "throttletest/service/readiness.h"

#include <fmt/format.h>

#include <utility>

#include "base/unix_address.h"
#include "service/probe.h"
#include "throttletest/base/duration.h"
#include "throttletest/base/error.h"

namespace throttletest {
namespace {

std::chrono::nanoseconds Positive(std::chrono::nanoseconds value, const char* what) {
  if (value > std::chrono::nanoseconds(0)) return value;
  throw Error(ErrorCode::kInvalidArgument,
              fmt::format("{} {} is not possible: write a time above 0, such as 30s", what,
                          ToString(value)));
}

}  // namespace

Readiness::Readiness(std::string description, Check check)
    : description_(std::move(description)), check_(std::move(check)) {
  if (!check_) throw Error(ErrorCode::kInvalidArgument, "readiness check is empty");
}

Readiness Readiness::Within(std::chrono::nanoseconds timeout) const {
  Readiness copy = *this;
  copy.timeout_ = Positive(timeout, "readiness timeout");
  return copy;
}

Readiness Readiness::PollEvery(std::chrono::nanoseconds interval) const {
  Readiness copy = *this;
  copy.interval_ = Positive(interval, "readiness poll interval");
  return copy;
}

Readiness Readiness::Stable(int successes) const {
  if (successes < 1) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("readiness cannot need {} successes: write 1 or more", successes));
  }
  Readiness copy = *this;
  copy.successes_ = successes;
  return copy;
}

std::string Readiness::Try(const ReadinessTarget& target) const { return check_(target); }

Readiness HttpReady(std::string target, int status) {
  if (target.empty() || target[0] != '/' || target.find_first_of(" \t\r\n") != std::string::npos) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("HTTP target \"{}\" must start with '/' and hold no blanks", target));
  }
  std::string description = fmt::format("GET {} answers {}", target, status);
  return Readiness(std::move(description), [target = std::move(target), status](const auto& t) {
    return internal::ProbeHttp(t, target, status);
  });
}

Readiness TcpReady() {
  return Readiness("TCP connection is accepted and stays open", internal::ProbeTcp);
}

Readiness UnixReady(std::string path) {
  const internal::UnixAddress address = internal::ResolveUnix(path);
  Readiness ready(
      fmt::format("connection is accepted on {}", path),
      [address, path](const ReadinessTarget&) { return internal::ProbeUnix(address, path); });
  ready.looks_at_port_ = false;
  return ready;
}

Readiness LogLineReady(std::string text) {
  if (text.empty()) throw Error(ErrorCode::kInvalidArgument, "log line to wait for is empty");
  std::string description = fmt::format("log line with \"{}\" and an open port", text);
  return Readiness(std::move(description), [text = std::move(text)](const ReadinessTarget& t) {
    const std::string logs = t.logs ? t.logs() : std::string();
    if (logs.find(text) == std::string::npos) return fmt::format("no log line has \"{}\"", text);
    return internal::ProbeTcp(t);
  });
}

Readiness CallableReady(std::string description,
                        std::function<bool(const ReadinessTarget&)> ready) {
  if (!ready) throw Error(ErrorCode::kInvalidArgument, "readiness callable is empty");
  return Readiness(std::move(description), [ready = std::move(ready)](const ReadinessTarget& t) {
    return std::string(ready(t) ? "" : "the callable answered false");
  });
}

}  // namespace throttletest
