#include "cgroup/proc_files.h"

#include <fmt/format.h>

#include <algorithm>

#include "cgroup/parse.h"
#include "throttletest/base/error.h"

namespace throttletest::internal {
namespace {

[[noreturn]] void Fail(std::string_view file, std::string_view line, const char* why) {
  throw Error(ErrorCode::kParse, fmt::format("{}: line \"{}\": {}", file, line, why));
}

std::vector<std::string> Split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const auto end = text.find(separator);
    if (end != 0) parts.emplace_back(text.substr(0, end));
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  return parts;
}

bool Contains(const std::vector<std::string>& list, std::string_view word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

bool IsOctal(char c) { return c >= '0' && c <= '7'; }

// The kernel prints blank, tab, newline and backslash of a path as \040, \011, \012 and \134.
std::string Unescape(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 3 < text.size() && IsOctal(text[i + 1]) && IsOctal(text[i + 2]) &&
        IsOctal(text[i + 3])) {
      out += static_cast<char>((text[i + 1] - '0') * 64 + (text[i + 2] - '0') * 8 +
                               (text[i + 3] - '0'));
      i += 3;
    } else {
      out += text[i];
    }
  }
  return out;
}

}  // namespace

bool ProcCgroupEntry::Has(std::string_view controller) const {
  return Contains(controllers, controller);
}

bool CgroupMount::Has(std::string_view controller) const {
  return !unified && Contains(controllers, controller);
}

std::vector<ProcCgroupEntry> ParseProcCgroup(std::string_view text, std::string_view file) {
  std::vector<ProcCgroupEntry> entries;
  for (const std::string& line : Split(text, '\n')) {
    const auto first = line.find(':');
    const auto second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) Fail(file, line, "expected ID:CONTROLLERS:PATH");
    ProcCgroupEntry entry;
    entry.controllers = Split(std::string_view(line).substr(first + 1, second - first - 1), ',');
    entry.unified = line.compare(0, first, "0") == 0 && entry.controllers.empty();
    entry.path = line.substr(second + 1);
    if (!entry.path.empty() && entry.path.back() == '\r') entry.path.pop_back();
    if (entry.path.empty() || entry.path[0] != '/')
      Fail(file, line, "the path does not start at /");
    entries.push_back(std::move(entry));
  }
  return entries;
}

std::vector<CgroupMount> ParseMountInfo(std::string_view text, std::string_view file) {
  std::vector<CgroupMount> mounts;
  for (const std::string& line : Split(text, '\n')) {
    // Optional fields stand before " - "; the type is the first field after it. A blank inside a
    // path is escaped, so the separator cannot be part of one.
    const auto separator = line.find(" - ");
    if (separator == std::string::npos) Fail(file, line, "the separator \" - \" is missing");
    const std::vector<std::string> before = ParseWords(std::string_view(line).substr(0, separator));
    const std::vector<std::string> after = ParseWords(std::string_view(line).substr(separator + 3));
    if (before.size() < 6 || after.empty()) Fail(file, line, "too few fields");
    if (after[0] != "cgroup" && after[0] != "cgroup2") continue;
    if (after.size() < 3) Fail(file, line, "the super options are missing");
    CgroupMount mount;
    mount.unified = after[0] == "cgroup2";
    mount.root = Unescape(before[3]);
    mount.mount_point = Unescape(before[4]);
    if (!mount.unified) mount.controllers = Split(after[2], ',');
    // "/.." is above the reader's cgroup namespace: what lies below it cannot be told from here.
    if (mount.root[0] != '/' || mount.root.rfind("/..", 0) == 0) continue;
    mounts.push_back(std::move(mount));
  }
  return mounts;
}

}  // namespace throttletest::internal
