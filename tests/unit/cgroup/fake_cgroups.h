// Plain folders in the shape of a v2 or v1 hierarchy, for reading and writing without a kernel.
#pragma once

#include <string>

#include "support/temp_tree.h"
#include "throttletest/cgroup/location.h"

namespace throttletest {

// A v2 machine with 8 CPUs. Levels are added by name and start unlimited and idle.
struct FakeV2 {
  FakeV2() {
    tree.Write("sys/devices/system/cpu/online", "0-7\n");
    tree.Write("sys/fs/cgroup/cpu.stat", "usage_usec 9\nuser_usec 8\nsystem_usec 1\n");
    tree.Write("sys/fs/cgroup/cgroup.controllers", "cpu cpuset memory\n");
  }
  void AddLevel(const std::string& path, const std::string& cpu_max = "max 100000\n") const {
    Set(path, "cpu.max", cpu_max);
    Set(path, "cpu.max.burst", "0\n");
    Set(path, "cgroup.procs", "");
    Set(path, "cgroup.type", "domain\n");
    SetStat(path, 0, 0, 0, 0);
  }
  void Set(const std::string& path, const std::string& file, const std::string& text) const {
    tree.Write("sys/fs/cgroup" + path + "/" + file, text);
  }
  void SetStat(const std::string& path, long usage_us, long periods, long throttled,
               long throttled_us) const {
    Set(path, "cpu.stat",
        "usage_usec " + std::to_string(usage_us) + "\nuser_usec 0\nsystem_usec 0\nnr_periods " +
            std::to_string(periods) + "\nnr_throttled " + std::to_string(throttled) +
            "\nthrottled_usec " + std::to_string(throttled_us) + "\nnr_bursts 0\nburst_usec 0\n");
  }
  static CgroupLocation At(const std::string& path) {
    const ControllerLocation place{CgroupVersion::kV2, "/sys/fs/cgroup", path, false};
    return {.cpu = place, .cpuacct = place, .cpuset = place, .memory = place, .unified = place};
  }
  std::string Read(const std::string& path, const std::string& file) const {
    return tree.Read("sys/fs/cgroup" + path + "/" + file);
  }

  testing_support::TempTree tree;
};

}  // namespace throttletest
