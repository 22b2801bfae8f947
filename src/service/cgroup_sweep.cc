#include <dirent.h>

#include <memory>
#include <string_view>

#include "cgroup/writer.h"
#include "service/cgroup_place.h"
#include "service/instance.h"
#include "service/owner.h"

namespace throttletest::internal {
namespace {

struct DirCloser {
  void operator()(DIR* dir) const { ::closedir(dir); }
};

// Cgroups directly in `parent` that are ours by name, with `suffix` behind it, and whose owner is
// dead.
void AddLeftovers(const std::string& parent, std::string_view suffix,
                  std::vector<std::string>& out) {
  const std::unique_ptr<DIR, DirCloser> dir(::opendir(parent.c_str()));
  while (const dirent* entry = dir ? ::readdir(dir.get()) : nullptr) {
    std::string_view name = entry->d_name;
    if (!name.ends_with(suffix)) continue;
    name.remove_suffix(suffix.size());
    const auto owner = OwnerOfName(std::string(name));
    if (owner && !owner->Alive()) out.push_back(parent + "/" + entry->d_name);
  }
}

}  // namespace

std::vector<std::string> FindCgroupLeftovers() {
  const PlaceAnswer answer = FindCgroupPlace(CgroupNeeds{});
  if (!answer.place) return {};
  std::vector<std::string> found;
  if (const auto& systemd = answer.place->systemd) {
    // systemd removes a scope by itself, unless something in it outlives its owner and the watcher.
    AddLeftovers(systemd->home.mount_point + systemd->slice, ".scope", found);
    return found;
  }
  for (const std::string& parent : Directories(answer.place->parent)) {
    AddLeftovers(parent, "", found);
  }
  return found;
}

std::vector<std::string> SweepCgroupLeftovers() {
  std::vector<std::string> removed;
  for (const std::string& directory : FindCgroupLeftovers()) {
    KillAll(directory);
    // Another test process may sweep at the same time: what is already gone is success.
    if (RemoveCgroup(directory).empty()) removed.push_back(directory);
  }
  return removed;
}

}  // namespace throttletest::internal
