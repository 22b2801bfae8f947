#include "service/cgroup_sweep.h"

#include <sys/stat.h>
#include <unistd.h>

#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>

#include "cgroup/proc_files.h"
#include "cgroup/writer.h"
#include "service/owner.h"
#include "throttletest/base/error.h"

namespace throttletest::internal {
namespace {

namespace fs = std::filesystem;

bool BelongsTo(uid_t user, const fs::path& path) {
  struct stat info {};
  return ::lstat(path.c_str(), &info) == 0 && info.st_uid == user;
}

std::vector<CgroupMount> Mounts() {
  std::ifstream in("/proc/self/mountinfo");
  const std::string text(std::istreambuf_iterator<char>(in), {});
  try {
    return ParseMountInfo(text, "/proc/self/mountinfo");
  } catch (const Error&) {
    return {};
  }
}

// Of a cgroup, or of the scope of systemd's that it is in. systemd removes such a scope by itself,
// unless something in it outlives its owner and the watcher.
std::optional<Owner> OwnerOf(std::string name) {
  constexpr std::string_view kScope = ".scope";
  if (name.ends_with(kScope)) name.erase(name.size() - kScope.size());
  return OwnerOfName(name);
}

// Cgroups come and go while this looks: one that cannot be opened must not end the search.
void Collect(const fs::path& directory, uid_t user, std::vector<std::string>& found) {
  std::error_code ec;
  for (fs::directory_iterator it(directory, ec), end; !ec && it != end; it.increment(ec)) {
    std::error_code gone;
    if (it->is_symlink(gone) || !it->is_directory(gone)) continue;
    const auto owner = OwnerOf(it->path().filename().string());
    if (!owner) {
      Collect(it->path(), user, found);
    } else if (!owner->Alive() && BelongsTo(user, it->path())) {
      found.push_back(it->path().string());  // what is below goes with it
    }
  }
}

}  // namespace

std::vector<std::string> DeadCgroupsBelow(const std::string& root, uid_t user) {
  std::vector<std::string> found;
  Collect(root, user, found);
  return found;
}

std::vector<Leftover> FindCgroupLeftovers() {
  std::vector<Leftover> found;
  // A hierarchy may be mounted twice.
  std::set<std::pair<dev_t, ino_t>> seen;
  for (const CgroupMount& mount : Mounts()) {
    for (std::string& path : DeadCgroupsBelow(mount.mount_point, ::geteuid())) {
      struct stat info {};
      if (::lstat(path.c_str(), &info) != 0) continue;
      if (!seen.emplace(info.st_dev, info.st_ino).second) continue;
      found.push_back({Leftover::Kind::kCgroup, LauncherKind::kCgroup, std::move(path)});
    }
  }
  return found;
}

std::string RemoveCgroupLeftover(const Leftover& leftover) {
  try {
    KillAll(leftover.name);
    return RemoveCgroup(leftover.name);
  } catch (const std::exception& e) {
    return e.what();
  }
}

std::vector<std::string> SweepCgroupLeftovers() {
  std::vector<std::string> removed;
  for (const Leftover& leftover : FindCgroupLeftovers()) {
    // Another test process may sweep at the same time: what is already gone is success.
    if (RemoveCgroupLeftover(leftover).empty()) removed.push_back(leftover.name);
  }
  return removed;
}

}  // namespace throttletest::internal
