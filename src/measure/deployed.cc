#include "measure/deployed.h"

#include <fmt/format.h>

#include "base/text.h"

namespace throttletest::internal {
namespace {

void Compare(std::string& text, const char* what, const std::string& measured,
             const std::string& declared) {
  if (measured == declared) return;
  AppendItem(text, fmt::format("{} {} instead of {}", what, measured, declared), ", ");
}

std::string CpusetText(const std::optional<CpuSet>& cpuset) {
  return cpuset ? cpuset->ToString() : "of all CPUs";
}

std::string SizeText(const std::optional<ByteSize>& size) {
  return size ? fmt::format("{} bytes", size->bytes()) : "unlimited";
}

}  // namespace

ResolvedLimits ResolveDeclared(const Limits& declared) {
  return ResolveLimits(declared, CpuSet::Parse(declared.cpuset));
}

std::string LimitsDiffer(const Limits& declared, const Measurement& m) {
  const ResolvedLimits wanted = ResolveDeclared(declared);
  std::string text;
  // A period without a quota limits nothing.
  if (wanted.cpu.limited() || m.requested.cpu.limited()) {
    Compare(text, "CPU", ToString(m.requested.cpu), ToString(wanted.cpu));
  }
  Compare(text, "cpuset", CpusetText(m.requested.cpuset), CpusetText(wanted.cpuset));
  Compare(text, "memory", SizeText(m.requested.memory), SizeText(wanted.memory));
  if (declared.memory_swap) {
    Compare(text, "memory plus swap", SizeText(m.requested.memory_and_swap),
            SizeText(wanted.memory_and_swap));
  }
  if (text.empty() || declared.origins.empty()) return text;
  return fmt::format("{}; declared in {}", text, ToString(declared.origins));
}

}  // namespace throttletest::internal
