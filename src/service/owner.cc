#include "service/owner.h"

#include <dirent.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <iterator>
#include <sstream>
#include <string_view>
#include <vector>

#include "base/number.h"
#include "base/read_file.h"
#include "base/text.h"

namespace throttletest::internal {
namespace {

constexpr std::string_view kPrefix = "throttletest-";

std::string BootId() {
  const auto text = ReadWholeFile("/proc/sys/kernel/random/boot_id");
  return text ? std::string(Trim(*text).substr(0, 8)) : "noboot";
}

// Absent: 0, it may not be looked at or is gone.
std::uint64_t PidNamespaceOf(const std::string& pid) {
  struct stat info {};
  const std::string path = "/proc/" + pid + "/ns/pid";
  return ::stat(path.c_str(), &info) == 0 ? static_cast<std::uint64_t>(info.st_ino) : 0;
}

std::uint64_t OwnPidNamespace() { return PidNamespaceOf("self"); }

// May another PID namespace still have processes?
bool MayHaveProcesses(std::uint64_t pid_namespace) {
  constexpr std::uint64_t kInitialNamespace = 0xEFFFFFFC;  // PROC_PID_INIT_INO of the kernel
  if (::geteuid() != 0 || OwnPidNamespace() != kInitialNamespace) return true;
  DIR* proc = ::opendir("/proc");
  if (proc == nullptr) return true;
  bool found = false;
  while (const dirent* entry = found ? nullptr : ::readdir(proc)) {
    found = ParseInteger<pid_t>(entry->d_name) && PidNamespaceOf(entry->d_name) == pid_namespace;
  }
  ::closedir(proc);
  return found;
}

std::vector<std::string_view> Split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const auto end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

bool IsBootId(std::string_view text) {
  return !text.empty() && text.size() <= 8 &&
         text.find_first_not_of("0123456789abcdefnoboot") == std::string_view::npos;
}

}  // namespace

std::optional<ProcessStat> ParseProcessStat(const std::string& text) {
  const auto name_end = text.rfind(')');
  if (name_end == std::string::npos) return std::nullopt;
  std::istringstream fields(text.substr(name_end + 1));
  const std::vector<std::string> rest{std::istream_iterator<std::string>(fields), {}};
  // Counted from field 3 (state): field 9 holds the flags, field 20 is the number of threads, field
  // 22 the start time.
  if (rest.size() < 20 || rest[0].size() != 1) return std::nullopt;
  constexpr std::uint64_t kKernelThread = 0x00200000;  // PF_KTHREAD
  const auto parent = ParseInteger<pid_t>(rest[1]);
  const auto flags = ParseInteger<std::uint64_t>(rest[6]);
  const auto threads = ParseInteger<int>(rest[17]);
  const auto start = ParseInteger<std::uint64_t>(rest[19]);
  if (!parent || !threads || !start) return std::nullopt;
  return ProcessStat{.state = rest[0][0],
                     .parent = *parent,
                     .start_ticks = *start,
                     .threads = *threads,
                     .kernel_thread = (flags.value_or(0) & kKernelThread) != 0};
}

std::optional<ProcessStat> ReadProcessStat(pid_t pid, const std::string& proc_root) {
  const auto text = ReadWholeFile(fmt::format("{}/{}/stat", proc_root, pid));
  return text ? ParseProcessStat(*text) : std::nullopt;
}

std::string Owner::ToString() const {
  return fmt::format("{}.{}.{}.{}", pid, start_ticks, boot_id, pid_namespace);
}

std::optional<Owner> Owner::Parse(const std::string& text) {
  const auto parts = Split(text, '.');
  if (parts.size() != 4 || !IsBootId(parts[2])) return std::nullopt;
  const auto pid = ParseInteger<pid_t>(parts[0]);
  const auto start = ParseInteger<std::uint64_t>(parts[1]);
  const auto pid_namespace = ParseInteger<std::uint64_t>(parts[3]);
  if (!pid || *pid <= 0 || !start || !pid_namespace) return std::nullopt;
  return Owner{.pid = *pid,
               .start_ticks = *start,
               .boot_id = std::string(parts[2]),
               .pid_namespace = *pid_namespace};
}

Owner Owner::Self() {
  Owner self{.pid = ::getpid(), .boot_id = BootId(), .pid_namespace = OwnPidNamespace()};
  if (const auto stat = ReadProcessStat(self.pid)) self.start_ticks = stat->start_ticks;
  return self;
}

bool Owner::Alive() const {
  if (boot_id != BootId()) return false;
  if (pid_namespace != OwnPidNamespace()) return MayHaveProcesses(pid_namespace);
  const auto stat = ReadProcessStat(pid);
  return stat && !stat->ended() && stat->start_ticks == start_ticks;
}

std::string UniqueName() {
  static std::atomic<int> count{0};
  return fmt::format("{}{}-{}", kPrefix, Owner::Self().ToString(), ++count);
}

std::optional<Owner> OwnerOfName(const std::string& name) {
  if (!name.starts_with(kPrefix)) return std::nullopt;
  const auto dash = name.rfind('-');
  if (dash < kPrefix.size()) return std::nullopt;
  if (!ParseInteger<int>(std::string_view(name).substr(dash + 1))) return std::nullopt;
  return Owner::Parse(name.substr(kPrefix.size(), dash - kPrefix.size()));
}

}  // namespace throttletest::internal
