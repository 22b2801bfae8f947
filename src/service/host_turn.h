// HostTurn: holds the host-wide lock; see throttletest/service/host_lock.h.
#pragma once

#include <sys/types.h>

#include <stop_token>
#include <string>

namespace throttletest::internal {

// From its construction to its destruction no other process starts or measures a service. Any
// number may exist in one process at once, in any threads: the lock is held while one of them does.
// Between processes turns are fair: who has just had one waits behind those who waited already.
class HostTurn {
 public:
  // Waits for the other processes' turns. Errors: kInterrupted when stopped; kUnsupported naming
  // the holder when the patience is over, and when a required file cannot be used; kInvalidArgument
  // for a bad environment.
  explicit HostTurn(const std::stop_token& stop);
  HostTurn(const HostTurn&) = delete;
  HostTurn& operator=(const HostTurn&) = delete;
  ~HostTurn();

  // Why other processes were not kept out, for a note in the result. Empty: they were, or nobody
  // wants a lock.
  const std::string& note() const { return note_; }

 private:
  pid_t process_;
  std::string note_;
};

}  // namespace throttletest::internal
