#include "throttletest/cgroup/cpu_set.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/number.h"
#include "base/text.h"
#include "throttletest/base/error.h"

namespace throttletest {
namespace {

// The kernel builds for at most 8192; the bound keeps "0-18446744073709551615" from running long.
constexpr int kMaxCpu = 65535;

[[noreturn]] void Refuse(std::string_view text, const std::string& why) {
  throw Error(ErrorCode::kInvalidArgument,
              fmt::format("CPU list \"{}\": {}; write for example 0-3,7", text, why));
}

int ParseCpu(std::string_view text, std::string_view number) {
  const std::string_view digits = internal::Trim(number);
  if (digits.empty()) Refuse(text, "a CPU number is missing");
  if (!std::all_of(digits.begin(), digits.end(), [](char c) { return c >= '0' && c <= '9'; })) {
    Refuse(text, fmt::format("\"{}\" is not a CPU number", digits));
  }
  const auto cpu = internal::ParseInteger<int>(digits);
  if (!cpu || *cpu > kMaxCpu) {
    Refuse(text, fmt::format("CPU {} is above the largest number {}", digits, kMaxCpu));
  }
  return *cpu;
}

void AddRange(std::string_view text, std::string_view part, std::set<int>& cpus) {
  const auto dash = part.find('-');
  const int first = ParseCpu(text, part.substr(0, dash));
  const int last = dash == std::string_view::npos ? first : ParseCpu(text, part.substr(dash + 1));
  if (last < first) Refuse(text, fmt::format("the range {}-{} runs backwards", first, last));
  for (int cpu = first; cpu <= last; ++cpu) cpus.insert(cpu);
}

}  // namespace

CpuSet CpuSet::Parse(std::string_view text) {
  std::set<int> cpus;
  std::string_view rest = internal::Trim(text);
  const std::string_view whole = rest;
  while (!whole.empty()) {
    const auto comma = rest.find(',');
    AddRange(whole, rest.substr(0, comma), cpus);
    if (comma == std::string_view::npos) break;
    rest.remove_prefix(comma + 1);
  }
  return CpuSet(std::move(cpus));
}

bool CpuSet::Includes(const CpuSet& other) const {
  return std::includes(cpus_.begin(), cpus_.end(), other.cpus_.begin(), other.cpus_.end());
}

std::string CpuSet::ToString() const {
  std::string out;
  for (auto it = cpus_.begin(); it != cpus_.end();) {
    const int first = *it;
    int last = first;
    for (++it; it != cpus_.end() && *it == last + 1; ++it) last = *it;
    if (!out.empty()) out += ',';
    out += first == last ? fmt::format("{}", first) : fmt::format("{}-{}", first, last);
  }
  return out;
}

}  // namespace throttletest
