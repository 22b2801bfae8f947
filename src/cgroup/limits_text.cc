// Limits as text, for messages and reports.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <vector>

#include "base/text.h"
#include "cgroup/text.h"
#include "throttletest/base/duration.h"
#include "throttletest/cgroup/limits.h"

namespace throttletest {
namespace {

std::string Joined(const std::vector<std::string>& parts) {
  return parts.empty() ? "none" : fmt::format("{}", fmt::join(parts, ", "));
}

std::string Share(std::chrono::microseconds quota, std::chrono::microseconds period) {
  return fmt::format("{} per {}", ToString(quota), ToString(period));
}

}  // namespace

namespace internal {

std::string CpusText(double cpus) {
  // Shortest form that reads back exactly, and never a bare integer: "5.0 CPUs" is a quantity.
  std::string text = fmt::format("{}", cpus);
  if (text.find_first_not_of("0123456789") == std::string::npos) text += ".0";
  return text;
}

}  // namespace internal

std::string ToString(const LimitOrigin& origin) {
  return fmt::format("{}:{}: {}: {}", origin.file, origin.line, origin.key, origin.value);
}

std::string ToString(const std::vector<LimitOrigin>& origins) {
  std::string text;
  for (const LimitOrigin& origin : origins) internal::AppendItem(text, ToString(origin), "; ");
  return text;
}

std::string ToString(const CpuBandwidth& bandwidth) {
  if (!bandwidth.limited()) return "unlimited";
  std::string text = fmt::format("{} ({} CPUs)", Share(*bandwidth.quota, bandwidth.period),
                                 internal::CpusText(*bandwidth.cpus()));
  if (bandwidth.burst.count() != 0) text += ", burst " + ToString(bandwidth.burst);
  return text;
}

std::string ToString(const Limits& limits) {
  std::vector<std::string> parts;
  const auto period = limits.period.value_or(CpuBandwidth{}.period);
  if (limits.cpus) {
    const double quota_us = *limits.cpus * static_cast<double>(period.count());
    // An invalid request is printed too, in the message that refuses it.
    const bool sane = quota_us >= 1 && quota_us < 1e15;
    const std::chrono::microseconds quota(sane ? static_cast<std::int64_t>(quota_us + 1e-4) : 0);
    parts.push_back(sane ? fmt::format("cpus {} ({})", *limits.cpus, Share(quota, period))
                         : fmt::format("cpus {}", *limits.cpus));
  } else if (limits.quota) {
    parts.push_back(fmt::format("quota {}", Share(*limits.quota, period)));
  } else if (limits.period) {
    parts.push_back(fmt::format("period {} without a quota", ToString(period)));
  }
  if (limits.burst) parts.push_back("burst " + ToString(*limits.burst));
  if (!limits.cpuset.empty()) parts.push_back("cpuset " + limits.cpuset);
  if (limits.memory) parts.push_back("memory " + ToString(*limits.memory));
  if (limits.memory_swap) parts.push_back("memory plus swap " + ToString(*limits.memory_swap));
  return Joined(parts);
}

std::string ToString(const ResolvedLimits& limits) {
  std::vector<std::string> parts;
  if (limits.cpu.limited()) parts.push_back("CPU " + ToString(limits.cpu));
  if (limits.cpuset) parts.push_back("cpuset " + limits.cpuset->ToString());
  if (limits.memory) parts.push_back("memory " + ToString(*limits.memory));
  if (limits.memory_and_swap) {
    parts.push_back("memory plus swap " + ToString(*limits.memory_and_swap));
  }
  return Joined(parts);
}

}  // namespace throttletest
