// Leftovers: what test processes that were killed have left on this machine, and its removal.
//
//   for (const Leftover& leftover : FindLeftovers().found) RemoveLeftover(leftover);
//
// Tests clean up after themselves, and each start sweeps what earlier ones left; this is for who
// wants it done now. Only things of this user whose owner is dead are found, never what belongs to
// a living process or to another user.
#pragma once

#include <string>
#include <vector>

#include "throttletest/service/service_spec.h"

namespace throttletest {

struct Leftover {
  enum class Kind { kCgroup, kContainer, kImage };
  Kind kind = Kind::kCgroup;
  LauncherKind launcher = LauncherKind::kCgroup;  // the engine of a container or image
  std::string name;                               // the path of a cgroup, else its name

  // "docker container throttletest-...", "cgroup /sys/fs/cgroup/...".
  std::string ToString() const;
  friend bool operator==(const Leftover&, const Leftover&) = default;
};
// "cgroup", "container", "image".
const char* LeftoverKindName(Leftover::Kind kind);

struct LeftoverSearch {
  std::vector<Leftover> found;
  // Engines whose command is installed but which could not be asked: "docker does not answer: ...".
  // What they hold is not known.
  std::vector<std::string> not_asked;
};

// Looks into the cgroup hierarchies and the engines. Changes nothing. Errors: none.
LeftoverSearch FindLeftovers();

// Kills what runs in it and removes it. Returns an empty text when it is gone, also when somebody
// else removed it meanwhile, else why it is still there. Errors: none.
std::string RemoveLeftover(const Leftover& leftover);

}  // namespace throttletest
