// Shared by the launcher's integration tests: specs for toy_service and a look at what is left.
#pragma once

#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include "service/instance.h"
#include "service/owner.h"
#include "throttletest/service/service.h"

namespace throttletest::test {

// toy_service with `flags`, in a cgroup.
inline ServiceSpec Toy(std::vector<std::string> flags, Limits limits = {}) {
  ServiceSpec spec{.command = {TOY_SERVICE}, .limits = std::move(limits)};
  spec.command.insert(spec.command.end(), flags.begin(), flags.end());
  spec.ready = HttpReady("/").Within(std::chrono::seconds(20));
  spec.launcher = LauncherKind::kCgroup;
  return spec;
}

// Ready as soon as it was started, for services that never listen.
inline Readiness AtOnce() {
  return CallableReady("it was started", [](const ReadinessTarget&) { return true; });
}

// Ready when it has written `text`.
inline Readiness Wrote(std::string text) {
  return CallableReady("wrote " + text, [text = std::move(text)](const ReadinessTarget& target) {
    return target.logs().find(text) != std::string::npos;
  });
}

// Cgroups whose owner is process `pid`; other tests may run services of their own.
inline std::vector<std::string> CgroupsOf(pid_t pid) {
  std::vector<std::string> found;
  std::error_code error;
  for (std::filesystem::recursive_directory_iterator it("/sys/fs/cgroup", error), end; it != end;
       it.increment(error)) {
    const auto owner = internal::OwnerOfName(it->path().filename().string());
    if (owner && owner->pid == pid) found.push_back(it->path().string());
  }
  return found;
}

inline bool ProcessLives(pid_t pid) {
  const auto stat = internal::ReadProcessStat(pid);
  return stat && !stat->ended();
}

inline std::string ReadFile(const std::string& path) {
  std::ifstream in(path);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

// What StartService() says against a spec. Empty: it started.
inline std::string StartError(const ServiceSpec& spec, ErrorCode* code = nullptr) {
  try {
    StartService(spec);
    return {};
  } catch (const Error& error) {
    if (code != nullptr) *code = error.code();
    return error.what();
  }
}

}  // namespace throttletest::test
