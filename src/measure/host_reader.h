// HostReader: reads what HostActivity is the difference of.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "throttletest/cgroup/snapshot.h"
#include "throttletest/measure/host_activity.h"
#include "throttletest/service/service.h"

namespace throttletest::internal {

// Counters of the machine and of this process at one instant.
struct HostSnapshot {
  // Sums over all CPUs since boot. Units: multiples of a clock tick.
  struct Cpu {
    std::chrono::nanoseconds busy{0};   // user, nice, system, irq, softirq
    std::chrono::nanoseconds steal{0};  // runnable, but the hypervisor ran something else
  };
  std::chrono::steady_clock::time_point time;
  std::optional<Cpu> cpu = {};                            // Absent: /proc/stat cannot be read
  std::optional<std::chrono::nanoseconds> pressure = {};  // Absent: no pressure information
  std::chrono::nanoseconds own_cpu{0};                    // of this process, children not included
  // CPU time of the other services of this process, by instance.
  std::map<const Service*, std::chrono::nanoseconds> services = {};
  // The cgroup of this process and its ancestors. Absent: empty, it cannot be read.
  std::vector<CpuLevel> own_levels = {};
  std::string own_lack = {};    // why they cannot be read; empty when they can
  std::string own_unseen = {};  // the levels above that are hidden, in words; empty: none
};

// Reads the counters again and again; finds the cgroup of this process once.
class HostReader {
 public:
  // `proc_root` and `fs_root` as in LocateCgroup(). Errors: none; what cannot be read is absent.
  explicit HostReader(std::string proc_root = "/proc", const std::string& fs_root = "");
  HostReader(HostReader&&) noexcept;
  HostReader& operator=(HostReader&&) noexcept;
  ~HostReader();

  // `measured` is not among the services read. Errors: none.
  HostSnapshot Read(const Service* measured = nullptr) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Units: service_cpu: what the measured service used meanwhile, absent when it is not known; cpus:
// the online ones, 0 when they are not known.
HostActivity Subtract(const HostSnapshot& before, const HostSnapshot& after,
                      std::optional<std::chrono::nanoseconds> service_cpu, int cpus);

}  // namespace throttletest::internal
