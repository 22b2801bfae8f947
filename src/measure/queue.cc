#include "measure/queue.h"

#include <fmt/format.h>

#include "throttletest/base/duration.h"

namespace throttletest::internal {
namespace {

using std::chrono::nanoseconds;

std::string Sum(std::int64_t depth, nanoseconds worst) {
  return fmt::format("{} x {} = {}", depth, ToString(worst), ToString(worst * depth));
}

// A spare of less than one job does not hold one that is submitted twice or runs over.
std::string Spare(std::int64_t depth, nanoseconds worst, nanoseconds timeout) {
  const nanoseconds spare = timeout - worst * depth;
  std::string text = fmt::format("leaves {}", ToString(spare));
  if (spare >= worst) return text;
  text += ", less than one more job";
  if (depth > 1) {
    text += fmt::format("; {} leaves {}", depth - 1, ToString(timeout - worst * (depth - 1)));
  }
  return text;
}

}  // namespace

std::int64_t DeepestQueue(nanoseconds worst, nanoseconds timeout) { return timeout / worst; }

std::string QueueAdvice(std::int64_t depth, nanoseconds worst, nanoseconds timeout) {
  if (worst <= nanoseconds(0)) return "";
  const std::int64_t deepest = DeepestQueue(worst, timeout);
  if (deepest == 0) {
    return fmt::format("No depth would fit: one job alone takes longer than {}.",
                       ToString(timeout));
  }
  if (depth > deepest) {
    return fmt::format("A depth of {} would fit: {} {}.", deepest, Sum(deepest, worst),
                       Spare(deepest, worst, timeout));
  }
  std::string text = fmt::format("That {}", Spare(depth, worst, timeout));
  return text + (deepest > depth ? fmt::format("; up to {} would fit.", deepest) : ".");
}

}  // namespace throttletest::internal
