#include "calibrate.h"

#include <algorithm>
#include <atomic>
#include <chrono>

#include "burn.h"

namespace burn_server {
namespace {

// At least 1: a rate of 0 would turn every request into no work at all.
std::uint64_t RatePerMillisecond(const BurnResult& result) {
  const double ms = std::chrono::duration<double, std::milli>(result.cpu).count();
  if (ms <= 0) return 1;
  return std::max<std::uint64_t>(
      1, static_cast<std::uint64_t>(static_cast<double>(result.iterations) / ms));
}

}  // namespace

std::uint64_t Calibration::Median() const {
  if (rates.empty()) return 0;
  auto sorted = rates;
  std::sort(sorted.begin(), sorted.end());
  return sorted[(sorted.size() - 1) / 2];
}

std::uint64_t Calibration::Best() const {
  return rates.empty() ? 0 : *std::max_element(rates.begin(), rates.end());
}

std::uint64_t Calibration::Worst() const {
  return rates.empty() ? 0 : *std::min_element(rates.begin(), rates.end());
}

Calibration Calibrate(int slices, int slice_ms) {
  const std::atomic<bool> never{false};
  // Doubling until a burn is long enough to be timed also warms the caches and the clock of the
  // CPU.
  std::uint64_t iterations = 1U << 12U;
  BurnResult probe = Burn(iterations, never);
  while (probe.cpu < std::chrono::milliseconds(1)) {
    iterations *= 2;
    probe = Burn(iterations, never);
  }
  const auto slice = RatePerMillisecond(probe) * static_cast<std::uint64_t>(slice_ms);
  Calibration calibration;
  for (int i = 0; i < slices; ++i) {
    calibration.rates.push_back(RatePerMillisecond(Burn(slice, never)));
  }
  return calibration;
}

}  // namespace burn_server
