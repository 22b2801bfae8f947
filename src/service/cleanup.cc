#include "throttletest/service/cleanup.h"

#include <iterator>

#include "service/cgroup_sweep.h"
#include "service/engine_sweep.h"

namespace throttletest {

const char* LeftoverKindName(Leftover::Kind kind) {
  switch (kind) {
    case Leftover::Kind::kCgroup:
      return "cgroup";
    case Leftover::Kind::kContainer:
      return "container";
    case Leftover::Kind::kImage:
      return "image";
  }
  return "unknown";
}

std::string Leftover::ToString() const {
  const std::string engine =
      kind == Kind::kCgroup ? std::string() : std::string(LauncherName(launcher)) + " ";
  return engine + LeftoverKindName(kind) + " " + name;
}

LeftoverSearch FindLeftovers() {
  LeftoverSearch search = internal::FindEngineLeftovers();
  // Cgroups last: with a container its cgroup goes.
  std::vector<Leftover> cgroups = internal::FindCgroupLeftovers();
  search.found.insert(search.found.end(), std::make_move_iterator(cgroups.begin()),
                      std::make_move_iterator(cgroups.end()));
  return search;
}

std::string RemoveLeftover(const Leftover& leftover) {
  return leftover.kind == Leftover::Kind::kCgroup ? internal::RemoveCgroupLeftover(leftover)
                                                  : internal::RemoveEngineLeftover(leftover);
}

}  // namespace throttletest
