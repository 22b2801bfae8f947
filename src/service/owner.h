// Owner: who a cgroup, container or image belongs to, so that leftovers of the dead can be told
// from the things of the living.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>

namespace throttletest::internal {

// A process, told apart from a later one with the same number by its start time and the boot.
struct Owner {
  pid_t pid = 0;
  std::uint64_t start_ticks = 0;  // /proc/PID/stat field 22
  std::string boot_id;            // /proc/sys/kernel/random/boot_id, first 8 characters

  // "PID.START.BOOT", in names and labels.
  std::string ToString() const;
  // Absent: the text is not an owner.
  static std::optional<Owner> Parse(const std::string& text);
  static Owner Self();
  // True while that very process lives on this boot.
  bool Alive() const;

  friend bool operator==(const Owner&, const Owner&) = default;
};

// A name no other start has used: "throttletest-PID.START.BOOT-N".
std::string UniqueName();
// The owner in such a name. Absent: not one of our names.
std::optional<Owner> OwnerOfName(const std::string& name);

}  // namespace throttletest::internal
