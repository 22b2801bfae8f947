#include "measure/limit_changes.h"

#include <fmt/format.h>

#include <set>

#include "base/text.h"
#include "throttletest/base/byte_size.h"
#include "throttletest/base/duration.h"

namespace throttletest::internal {
namespace {

// Exact: a text that is rounded would make two limits equal.
std::string BytesText(ByteSize size) {
  constexpr std::int64_t kKibi = 1024;
  if (size.unlimited() || size.bytes() % (kKibi * kKibi) != 0) {
    return size.unlimited() ? "unlimited" : fmt::format("{} bytes", size.bytes());
  }
  return fmt::format("{} MiB", size.bytes() / (kKibi * kKibi));
}

std::string ValueOf(const LimitTexts& limits, const std::string& name) {
  const auto found = limits.find(name);
  return found == limits.end() ? "none" : found->second;
}

}  // namespace

LimitTexts LimitTextsOf(const ResolvedLimits& limits) {
  LimitTexts texts;
  if (limits.cpu.limited()) {
    texts["cpus"] = fmt::format("{}", *limits.cpu.cpus());
    texts["period"] = ToString(limits.cpu.period);
    if (limits.cpu.burst.count() != 0) texts["burst"] = ToString(limits.cpu.burst);
  }
  if (limits.cpuset) texts["cpuset"] = limits.cpuset->ToString();
  if (limits.memory) texts["memory"] = BytesText(*limits.memory);
  if (limits.memory_and_swap) texts["memory plus swap"] = BytesText(*limits.memory_and_swap);
  return texts;
}

std::string LimitChanges(const LimitTexts& before, const LimitTexts& after) {
  std::set<std::string> names;
  for (const auto& [name, text] : before) names.insert(name);
  for (const auto& [name, text] : after) names.insert(name);
  std::string changes;
  for (const std::string& name : names) {
    const std::string from = ValueOf(before, name);
    const std::string to = ValueOf(after, name);
    if (from != to) AppendItem(changes, fmt::format("{} {} -> {}", name, from, to), ", ");
  }
  return changes;
}

std::string LimitsText(const LimitTexts& limits) {
  std::string list;
  for (const auto& [name, text] : limits) AppendItem(list, fmt::format("{} {}", name, text), ", ");
  return list.empty() ? "none" : list;
}

}  // namespace throttletest::internal
