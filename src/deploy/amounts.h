// Amounts of CPU and memory as Compose files and Kubernetes manifests write them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "throttletest/base/byte_size.h"

namespace throttletest::internal {

// "0.5", "2", ".5", "1e0": a number of CPUs, 0 or more.
// Absent: anything else, also what is below 0 or above a million.
std::optional<double> ParseCpus(std::string_view text);

// "512m", "1.5 GB", "64kib", "1073741824": a byte value as Compose and Docker take it. Units:
// powers of 1024 whatever the letters. Absent: anything else.
// Source: go-units, RAMInBytes.
std::optional<ByteSize> ParseComposeBytes(std::string_view text);

// A quantity of Kubernetes: decimal digits with a suffix n u m k M G T P E, Ki Mi Gi Ti Pi Ei, or a
// decimal exponent. Source: k8s.io/apimachinery, pkg/api/resource, Quantity.
class Quantity {
 public:
  // Absent: not a quantity.
  static std::optional<Quantity> Parse(std::string_view text);

  bool negative() const { return negative_; }
  // In units of 10^-3, rounded up as Quantity.MilliValue() does. Absent: does not fit.
  std::optional<std::int64_t> Milli() const { return RoundedUp(3); }
  // In whole units, rounded up as Quantity.Value() does. Absent: does not fit.
  std::optional<std::int64_t> Units() const { return RoundedUp(0); }
  // True when it is no whole number of units of 10^-decimals.
  bool FinerThan(int decimals) const;

 private:
  std::optional<std::int64_t> RoundedUp(int decimals) const;

  bool negative_ = false;
  std::int64_t digits_ = 0;  // value = digits x 10^ten x 2^two
  int ten_ = 0;
  int two_ = 0;
};

// CPU time per period of 100 ms for a CPU limit in thousandths of a CPU.
// Units:  us. At least 1000, which the kernel needs: so 1m to 9m all become 10m.
// Source: kubelet, pkg/kubelet/cm, MilliCPUToQuota.
std::int64_t QuotaOfMilliCpus(std::int64_t milli);

}  // namespace throttletest::internal
