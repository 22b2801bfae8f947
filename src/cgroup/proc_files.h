// The two files of /proc that say where cgroups are, as values.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace throttletest::internal {

// One line of /proc/PID/cgroup.
struct ProcCgroupEntry {
  bool unified = false;                  // the v2 line, "0::/path"
  std::vector<std::string> controllers;  // v1; empty for v2. A named hierarchy is "name=systemd".
  std::string path;                      // as printed; may start with "/.." or end in " (deleted)"

  bool Has(std::string_view controller) const;
  friend bool operator==(const ProcCgroupEntry&, const ProcCgroupEntry&) = default;
};

// Splits at the first two ':' only: a path may contain more. Errors: kParse quoting the line.
std::vector<ProcCgroupEntry> ParseProcCgroup(std::string_view text, std::string_view file);

// One mounted cgroup hierarchy.
struct CgroupMount {
  bool unified = false;
  std::vector<std::string> controllers;  // v1: the super options, e.g. "rw", "cpu", "cpuacct"
  std::string root;                      // the part of the hierarchy that is mounted, "/" for all
  std::string mount_point;               // octal escapes undone

  bool Has(std::string_view controller) const;
  friend bool operator==(const CgroupMount&, const CgroupMount&) = default;
};

// The cgroup and cgroup2 lines of a mountinfo file; all others are skipped, so are mounts whose
// root is not a path of the reader's namespace. Errors: kParse quoting the line.
std::vector<CgroupMount> ParseMountInfo(std::string_view text, std::string_view file);

}  // namespace throttletest::internal
