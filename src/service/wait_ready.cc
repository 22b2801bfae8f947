#include "service/wait_ready.h"

#include <fmt/format.h>

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.h"
#include "throttletest/base/duration.h"
#include "throttletest/base/error.h"

namespace throttletest::internal {
namespace {

void SleepUnlessStopped(std::chrono::nanoseconds duration, const std::stop_token& stop) {
  std::mutex mutex;
  std::condition_variable_any wake;
  std::unique_lock lock(mutex);
  wake.wait_for(lock, stop, duration, [] { return false; });
}

// One wait. Everything a failure message needs in one place.
class Wait {
 public:
  Wait(const std::string& name, const Readiness& ready, const ReadinessTarget& target,
       const ReadyWatch& watch)
      : name_(name), ready_(ready), target_(target), watch_(watch), began_(watch.now()) {}

  void Run(const std::stop_token& stop) {
    int in_a_row = 0;
    while (true) {
      LookAround(stop);
      in_a_row = TryOnce() ? in_a_row + 1 : 0;
      if (in_a_row >= ready_.successes()) break;
      if (Left() <= std::chrono::nanoseconds(0)) FailTimeout();
      watch_.sleep(std::min(ready_.interval(), Left()), stop);
    }
    // The answer may have come from somebody who took the port, or from a service that has just
    // ended.
    LookAround(stop);
  }

 private:
  std::chrono::nanoseconds Elapsed() const { return watch_.now() - began_; }
  std::chrono::nanoseconds Left() const { return ready_.timeout() - Elapsed(); }

  bool TryOnce() {
    target_.patience = std::clamp<std::chrono::nanoseconds>(Left(), std::chrono::milliseconds(10),
                                                            target_.patience);
    std::string answer = ready_.Try(target_);
    if (answer.empty()) return true;
    if (answer.size() > 500) answer.resize(500);
    // A try that the deadline cuts short finds out little; what was said before tells more.
    const bool cut_short = target_.patience < std::chrono::milliseconds(100);
    if (last_.empty() || !cut_short) last_ = std::move(answer);
    return false;
  }

  void LookAround(const std::stop_token& stop) const {
    if (stop.stop_requested()) {
      throw Error(ErrorCode::kInterrupted,
                  fmt::format("stopped while waiting for \"{}\" to become ready", name_));
    }
    if (const std::string end = watch_.ended(); !end.empty()) {
      // A service whose port was taken says so and ends.
      ThrowIfStranger();
      Fail(fmt::format("{} before it was ready", end));
    }
    ThrowIfStranger();
  }

  void ThrowIfStranger() const {
    if (const std::string who = watch_.stranger(); !who.empty()) throw PortTaken{who};
  }

  [[noreturn]] void FailTimeout() const {
    Fail(fmt::format("not ready within {}", ToString(ready_.timeout())));
  }

  [[noreturn]] void Fail(const std::string& reason) const {
    std::string text = fmt::format("service \"{}\": {}; waited {} for: {}", name_, reason,
                                   ToMilliseconds(Elapsed()), ready_.description());
    if (!last_.empty()) text += fmt::format("; last answer: {}", last_);
    if (target_.logs) {
      text += fmt::format("\nlast log lines of the service:\n{}", LastLines(target_.logs()));
    }
    throw Error(ErrorCode::kNotReady, text);
  }

  const std::string& name_;
  const Readiness& ready_;
  ReadinessTarget target_;
  const ReadyWatch& watch_;
  const std::chrono::steady_clock::time_point began_;
  std::string last_;
};

}  // namespace

ReadyWatch RealTimeWatch() {
  return {.ended = [] { return std::string(); },
          .stranger = [] { return std::string(); },
          .now = [] { return std::chrono::steady_clock::now(); },
          .sleep = SleepUnlessStopped};
}

void WaitReady(const std::string& name, const Readiness& ready, const ReadinessTarget& target,
               const ReadyWatch& watch, const std::stop_token& stop) {
  Wait(name, ready, target, watch).Run(stop);
}

std::string LastLines(const std::string& text, int count) {
  std::string_view rest = Trim(text);
  if (rest.empty()) return "  (it wrote nothing)";
  std::vector<std::string_view> lines;
  while (static_cast<int>(lines.size()) < count) {
    const auto end = rest.rfind('\n');
    lines.push_back(end == std::string_view::npos ? rest : rest.substr(end + 1));
    if (end == std::string_view::npos) break;
    rest = rest.substr(0, end);
  }
  std::string out;
  for (auto line = lines.rbegin(); line != lines.rend(); ++line) {
    out += fmt::format("{}  {}", out.empty() ? "" : "\n", line->substr(0, 400));
  }
  return out;
}

}  // namespace throttletest::internal
