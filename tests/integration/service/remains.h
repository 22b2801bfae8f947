// Remains: what a test process may have left on this machine, for tests that say "nothing".
#pragma once

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <vector>

#include "base/number.h"
#include "engine_support.h"
#include "service_support.h"

namespace throttletest::test {

// Processes with `mark` on their command line, but for this one. A zombie has no command line.
inline std::vector<std::string> ProcessesMarked(const std::string& mark) {
  std::vector<std::string> found;
  std::error_code ec;
  for (std::filesystem::directory_iterator it("/proc", ec), end; !ec && it != end;
       it.increment(ec)) {
    const std::string name = it->path().filename().string();
    const auto pid = internal::ParseInteger<pid_t>(name);
    if (!pid || *pid == ::getpid()) continue;
    std::string words = ReadFile("/proc/" + name + "/cmdline");
    for (char& c : words) c = c == '\0' ? ' ' : c;
    if (words.find(mark) != std::string::npos) found.push_back("process " + name + ": " + words);
  }
  return found;
}

// Is there a socket that listens on 127.0.0.1:`port`? Source: /proc/net/tcp, state 0A.
inline bool ListenedOn(std::uint16_t port) {
  const std::string line = fmt::format(" 0100007F:{:04X} 00000000:0000 0A ", port);
  return ReadFile("/proc/net/tcp").find(line) != std::string::npos;
}

// The entries of a folder.
inline std::vector<std::string> NamesIn(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code ec;
  for (std::filesystem::directory_iterator it(folder, ec), end; !ec && it != end;
       it.increment(ec)) {
    names.push_back(it->path().filename().string());
  }
  return names;
}

// Files of ours in the folders for temporary ones. "throttletest." is the host-wide lock, which
// stays on purpose, and the folders of ci/engines.
inline std::vector<std::string> TemporaryFiles() {
  std::vector<std::string> found;
  for (const char* folder : {"/tmp", "/dev/shm", "/run/lock"}) {
    for (const std::string& name : NamesIn(folder)) {
      if (name.starts_with("throttletest") && !name.starts_with("throttletest.")) {
        found.push_back(std::string(folder) + "/" + name);
      }
    }
  }
  return found;
}

// Everything of process `pid`, whose command line has `mark`.
inline std::vector<std::string> RemainsOf(LauncherKind launcher, pid_t pid,
                                          const std::string& mark) {
  std::vector<std::string> found = ProcessesMarked(mark);
  for (const std::string& path : CgroupsOf(pid)) found.push_back("cgroup " + path);
  if (launcher == LauncherKind::kCgroup) return found;
  for (const std::string& thing : ThingsOf(launcher, pid)) found.push_back(thing);
  return found;
}

}  // namespace throttletest::test
