#include "throttletest/cgroup/limits.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <limits>

#include "base/refuse.h"
#include "throttletest/base/duration.h"
#include "throttletest/base/error.h"

namespace throttletest {
namespace {

using internal::Refuse;

using std::chrono::microseconds;

constexpr microseconds kMinPeriod{1000};
constexpr microseconds kMaxPeriod{1'000'000};
constexpr microseconds kMinQuota{1000};
// The kernel keeps bandwidth in 64-bit fixed point with 20 fraction bits: 2^44 us, about 203 days.
constexpr microseconds kMaxQuota{(std::int64_t{1} << 44) - 1};
constexpr ByteSize kMinMemory = 6_MiB;

// "50 us is below 1000 us; did you mean 50 ms?": people think in milliseconds, files in us.
void RefuseBelow(const char* what, microseconds value, microseconds least) {
  if (value >= least) return;
  std::string message = fmt::format("{} {} us is below {} us", what, value.count(), least.count());
  if (value.count() > 0) message += fmt::format("; did you mean {} ms?", value.count());
  Refuse(message);
}

microseconds ResolvePeriod(const Limits& limits) {
  const microseconds period = limits.period.value_or(CpuBandwidth{}.period);
  RefuseBelow("period", period, kMinPeriod);
  if (period > kMaxPeriod) {
    Refuse(fmt::format("period {} us ({}) is above {} us: the kernel takes 1 ms to 1 s",
                       period.count(), ToString(period), kMaxPeriod.count()));
  }
  return period;
}

// Truncates as the container engines do: whole nano-CPUs first, so that 0.257 is 25700 us although
// the double nearest to 0.257 lies below it.
microseconds QuotaOfCpus(double cpus, microseconds period) {
  if (!std::isfinite(cpus) || cpus <= 0) {
    Refuse(
        fmt::format("cpus {} is not a number of CPUs above 0; leave it unset for no limit", cpus));
  }
  const double most = static_cast<double>(kMaxQuota.count()) / static_cast<double>(period.count());
  if (cpus > most || cpus > 1e9) {
    Refuse(fmt::format("cpus {} is above the kernel's range; leave it unset for no limit", cpus));
  }
  constexpr std::int64_t kNano = 1'000'000'000;
  const std::int64_t nano_cpus = std::llround(cpus * 1e9);
  const microseconds quota(nano_cpus / kNano * period.count() +
                           nano_cpus % kNano * period.count() / kNano);
  if (quota < kMinQuota) {
    Refuse(
        fmt::format("cpus {} is a quota of {} us per {} us, and the kernel takes 1000 us or "
                    "more: at least {} CPUs with this period, or a longer period (up to 1 s)",
                    cpus, quota.count(), period.count(),
                    static_cast<double>(kMinQuota.count()) / static_cast<double>(period.count())));
  }
  return quota;
}

std::optional<microseconds> ResolveQuota(const Limits& limits, microseconds period) {
  if (limits.cpus && limits.quota) {
    Refuse(fmt::format("cpus {} and quota {} are two ways to say the same: set one of them",
                       *limits.cpus, ToString(*limits.quota)));
  }
  if (limits.cpus) return QuotaOfCpus(*limits.cpus, period);
  if (!limits.quota) return std::nullopt;
  RefuseBelow("quota", *limits.quota, kMinQuota);
  if (*limits.quota > kMaxQuota) {
    Refuse(
        fmt::format("quota {} us is above the kernel's largest, {} us; leave it unset for no "
                    "limit",
                    limits.quota->count(), kMaxQuota.count()));
  }
  return limits.quota;
}

microseconds ResolveBurst(const Limits& limits, const std::optional<microseconds>& quota) {
  const microseconds burst = limits.burst.value_or(microseconds{0});
  if (burst.count() == 0) return burst;
  if (!quota) {
    Refuse(fmt::format("burst {} needs a quota: set cpus or quota as well", ToString(burst)));
  }
  if (burst.count() < 0 || burst > *quota) {
    Refuse(fmt::format("burst {} us is outside 0..{} us: the kernel takes no more than the quota",
                       burst.count(), quota->count()));
  }
  if (burst > kMaxQuota - *quota) Refuse("burst and quota together are above the kernel's range");
  return burst;
}

std::optional<CpuSet> ResolveCpuset(const std::string& text, const CpuSet& online) {
  if (text.empty()) return std::nullopt;
  CpuSet cpus = CpuSet::Parse(text);
  if (cpus.empty()) Refuse(fmt::format("cpuset \"{}\" names no CPU", text));
  if (!online.Includes(cpus)) {
    Refuse(fmt::format("cpuset \"{}\" names CPUs this machine does not have: online are {}", text,
                       online.ToString()));
  }
  return cpus;
}

void ResolveMemory(const Limits& limits, ResolvedLimits& resolved) {
  const bool limited = limits.memory && !limits.memory->unlimited();
  if (limits.memory_swap && !limited) {
    if (limits.memory_swap->unlimited()) return;
    Refuse(fmt::format("memory_swap {} needs a memory limit: it is memory plus swap",
                       ToString(*limits.memory_swap)));
  }
  if (!limited) return;
  if (*limits.memory < kMinMemory) {
    const std::int64_t bytes = limits.memory->bytes();
    std::string message =
        fmt::format("memory {} bytes is below {} (6 MiB), the container engines' floor", bytes,
                    kMinMemory.bytes());
    if (bytes >= kMinMemory.bytes() >> 20 && bytes < 1 << 20) {
      message += fmt::format("; did you mean {} MiB?", bytes);
    }
    Refuse(message);
  }
  resolved.memory = limits.memory;
  if (!limits.memory_swap) {
    if (limits.memory->bytes() <= std::numeric_limits<std::int64_t>::max() / 2) {
      resolved.memory_and_swap = ByteSize(2 * limits.memory->bytes());
    }
    return;
  }
  if (limits.memory_swap->unlimited()) return;
  if (*limits.memory_swap < *limits.memory) {
    Refuse(
        fmt::format("memory_swap {} is below memory {}: it is memory plus swap, so equal to "
                    "memory means no swap",
                    ToString(*limits.memory_swap), ToString(*limits.memory)));
  }
  resolved.memory_and_swap = limits.memory_swap;
}

}  // namespace

std::optional<double> CpuBandwidth::cpus() const {
  if (!quota) return std::nullopt;
  return static_cast<double>(quota->count()) / static_cast<double>(period.count());
}

namespace {

ResolvedLimits Resolve(const Limits& limits, const CpuSet& online) {
  ResolvedLimits resolved;
  resolved.cpu.period = ResolvePeriod(limits);
  resolved.cpu.quota = ResolveQuota(limits, resolved.cpu.period);
  resolved.cpu.burst = ResolveBurst(limits, resolved.cpu.quota);
  resolved.cpuset = ResolveCpuset(limits.cpuset, online);
  ResolveMemory(limits, resolved);
  return resolved;
}

}  // namespace

ResolvedLimits ResolveLimits(const Limits& limits, const CpuSet& online) {
  try {
    return Resolve(limits, online);
  } catch (const Error& e) {
    if (limits.origins.empty()) throw;
    throw Error(e.code(), fmt::format("{} (declared in {})", e.what(), ToString(limits.origins)));
  }
}

}  // namespace throttletest
