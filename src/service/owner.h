// Owner: who a cgroup, container or image belongs to, so that leftovers of the dead can be told
// from the things of the living.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>

namespace throttletest::internal {

// A process, told apart from a later one with the same number by its start time and the boot, and
// from a process of another container by the PID namespace its number belongs to.
struct Owner {
  pid_t pid = 0;
  std::uint64_t start_ticks = 0;    // /proc/PID/stat field 22
  std::string boot_id = {};         // /proc/sys/kernel/random/boot_id, first 8 characters
  std::uint64_t pid_namespace = 0;  // inode of /proc/self/ns/pid

  // "PID.START.BOOT.NAMESPACE", in names and labels.
  std::string ToString() const;
  // Absent: the text is not an owner.
  static std::optional<Owner> Parse(const std::string& text);
  static Owner Self();
  // True while that very process lives on this boot, and whenever it cannot be judged from here:
  // its number means nothing in another PID namespace, and the living must not be swept. Root in
  // the initial namespace sees everybody and can judge: a namespace without processes is dead.
  bool Alive() const;

  friend bool operator==(const Owner&, const Owner&) = default;
};

// A name no other start has used: "throttletest-PID.START.BOOT.NAMESPACE-N".
std::string UniqueName();
// The owner in such a name. Absent: not one of our names.
std::optional<Owner> OwnerOfName(const std::string& name);

// What /proc/PID/stat says of a process. Absent: there is no such process.
struct ProcessStat {
  char state = '?';
  pid_t parent = 0;
  std::uint64_t start_ticks = 0;
  int threads = 0;
  bool kernel_thread = false;  // PF_KTHREAD: no program, no memory of its own
  // A zombie whose last thread has ended; a leader that left its threads behind is still alive.
  bool ended() const { return (state == 'Z' || state == 'X') && threads <= 1; }
};
std::optional<ProcessStat> ReadProcessStat(pid_t pid, const std::string& proc_root = "/proc");
// Absent: a text that is not a stat line. The name in it may hold blanks and parentheses.
std::optional<ProcessStat> ParseProcessStat(const std::string& text);

}  // namespace throttletest::internal
