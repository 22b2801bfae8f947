#include <dirent.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <iterator>
#include <memory>
#include <sstream>

#include "base/number.h"
#include "base/read_file.h"
#include "base/text.h"
#include "service/port.h"

namespace throttletest::internal {
namespace {

// Adds the inodes of one table. A line is "sl local_address rem_address st ..."; an address is
// "HEXADDRESS:HEXPORT", state 0A is LISTEN, the inode is field 10.
void AddListening(std::string_view table, std::uint16_t port, std::set<std::uint64_t>& out) {
  std::istringstream lines{std::string(table)};
  const std::string port_text = fmt::format(":{:04X}", port);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream fields(line);
    const std::vector<std::string> field{std::istream_iterator<std::string>(fields), {}};
    if (field.size() < 10 || field[3] != "0A" || !field[1].ends_with(port_text)) continue;
    // 127.0.0.1 in network order, 0.0.0.0, ::, and ::ffff:127.0.0.1.
    const std::string address = field[1].substr(0, field[1].size() - port_text.size());
    const bool any = address.find_first_not_of('0') == std::string::npos;
    if (!any && !address.ends_with("0100007F")) continue;
    if (const auto inode = ParseInteger<std::uint64_t>(field[9])) out.insert(*inode);
  }
}

struct DirCloser {
  void operator()(DIR* dir) const { ::closedir(dir); }
};

enum class Holds { kYes, kNo, kUnknown };

// Does a process have one of the sockets open?
Holds HoldsSocket(const std::string& pid, const std::set<std::uint64_t>& sockets) {
  const std::string directory = "/proc/" + pid + "/fd";
  const std::unique_ptr<DIR, DirCloser> dir(::opendir(directory.c_str()));
  if (!dir) return errno == ENOENT ? Holds::kNo : Holds::kUnknown;
  while (const dirent* entry = ::readdir(dir.get())) {
    std::array<char, 64> target{};
    const std::string path = directory + "/" + entry->d_name;
    const ssize_t size = ::readlink(path.c_str(), target.data(), target.size());
    if (size <= 0) continue;
    std::string_view link(target.data(), static_cast<std::size_t>(size));
    if (!link.starts_with("socket:[") || !link.ends_with("]")) continue;
    link = link.substr(8, link.size() - 9);
    const auto inode = ParseInteger<std::uint64_t>(link);
    if (inode && sockets.count(*inode) != 0) return Holds::kYes;
  }
  return Holds::kNo;
}

std::string NameHolder(const std::set<std::uint64_t>& sockets) {
  const std::unique_ptr<DIR, DirCloser> proc(::opendir("/proc"));
  while (const dirent* entry = proc ? ::readdir(proc.get()) : nullptr) {
    const std::string pid = entry->d_name;
    if (std::isdigit(static_cast<unsigned char>(pid[0])) == 0) continue;
    if (HoldsSocket(pid, sockets) != Holds::kYes) continue;
    return fmt::format("process {} ({})", pid,
                       Trim(ReadWholeFile("/proc/" + pid + "/comm").value_or("")));
  }
  return "a process of another user or namespace";
}

std::set<std::uint64_t> ListeningNow(std::uint16_t port) {
  return ListeningSockets(ReadWholeFile("/proc/net/tcp").value_or(""),
                          ReadWholeFile("/proc/net/tcp6").value_or(""), port);
}

// Do any of the service's processes hold one of the sockets?
Holds ServiceHolds(const std::vector<pid_t>& service, const std::set<std::uint64_t>& sockets) {
  Holds all = Holds::kNo;
  for (const pid_t pid : service) {
    const Holds one = HoldsSocket(std::to_string(pid), sockets);
    if (one == Holds::kYes) return one;
    if (one == Holds::kUnknown) all = one;
  }
  return all;
}

}  // namespace

std::set<std::uint64_t> ListeningSockets(std::string_view tcp, std::string_view tcp6,
                                         std::uint16_t port) {
  std::set<std::uint64_t> inodes;
  AddListening(tcp, port, inodes);
  AddListening(tcp6, port, inodes);
  return inodes;
}

std::vector<pid_t> ListenersAmong(const std::vector<pid_t>& processes, std::uint16_t port) {
  const std::set<std::uint64_t> sockets = ListeningNow(port);
  std::vector<pid_t> listeners;
  if (sockets.empty()) return listeners;
  std::copy_if(processes.begin(), processes.end(), std::back_inserter(listeners),
               [&](pid_t pid) { return HoldsSocket(std::to_string(pid), sockets) == Holds::kYes; });
  return listeners;
}

std::string FindStranger(std::uint16_t port, const std::vector<pid_t>& service) {
  std::set<std::uint64_t> sockets = ListeningNow(port);
  if (sockets.empty() || ServiceHolds(service, sockets) != Holds::kNo) return {};
  // The service may have opened or closed its socket between the two looks: a stranger's socket is
  // there both times.
  const std::set<std::uint64_t> again = ListeningNow(port);
  std::erase_if(sockets, [&](std::uint64_t inode) { return again.count(inode) == 0; });
  if (sockets.empty() || ServiceHolds(service, sockets) != Holds::kNo) return {};
  return NameHolder(sockets);
}

}  // namespace throttletest::internal
