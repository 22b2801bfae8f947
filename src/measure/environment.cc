#include "throttletest/measure/environment.h"

#include <fmt/format.h>
#include <sys/utsname.h>

#include <chrono>
#include <ctime>
#include <fstream>

#include "base/number.h"
#include "base/text.h"
#include "throttletest/base/error.h"
#include "throttletest/cgroup/cpu_set.h"
#include "throttletest/cgroup/location.h"

namespace throttletest {
namespace {

std::string KernelRelease() {
  utsname name{};
  return ::uname(&name) == 0 ? name.release : "";
}

// The value of the first line "key : value".
std::string CpuInfo(const std::string& path, std::string_view key) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    const std::size_t colon = line.find(':');
    if (colon == std::string::npos) continue;
    if (internal::Trim(std::string_view(line).substr(0, colon)) != key) continue;
    return std::string(internal::Trim(std::string_view(line).substr(colon + 1)));
  }
  return "";
}

int ReadInteger(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return internal::ParseInteger<int>(internal::Trim(line)).value_or(0);
}

int CountOnlineCpus() {
  try {
    return OnlineCpus().count();
  } catch (const Error&) {
    return 0;
  }
}

std::string Now() {
  const std::time_t now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  std::tm utc{};
  ::gmtime_r(&now, &utc);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z", utc.tm_year + 1900, utc.tm_mon + 1,
                     utc.tm_mday, utc.tm_hour, utc.tm_min, utc.tm_sec);
}

}  // namespace

Environment ReadEnvironment(const std::string& proc_root) {
  Environment env;
  env.throttletest_version = THROTTLETEST_VERSION;
  env.kernel = KernelRelease();
  env.cpu_model = CpuInfo(proc_root + "/cpuinfo", "model name");
  env.online_cpus = CountOnlineCpus();
  try {
    env.cgroup_mode = CgroupModeName(DetectCgroupMode(proc_root));
  } catch (const Error&) {
    env.cgroup_mode = "";
  }
  env.bandwidth_slice_us = ReadInteger(proc_root + "/sys/kernel/sched_cfs_bandwidth_slice_us");
  env.timestamp = Now();
  return env;
}

}  // namespace throttletest
