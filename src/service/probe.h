// Probes: one question to a service's port. An empty answer means "ready", else why not.
#pragma once

#include <string>

#include "base/unix_address.h"
#include "throttletest/service/readiness.h"

namespace throttletest::internal {

// Connects and looks whether the connection is still open 20 ms later: a container engine's proxy
// accepts before the service listens and then closes or resets.
std::string ProbeTcp(const ReadinessTarget& target);

// Connects to a Unix socket. `path` is for messages.
std::string ProbeUnix(const UnixAddress& address, const std::string& path);

// One GET on a connection of its own; ready when an answer with `status` came.
std::string ProbeHttp(const ReadinessTarget& target, const std::string& path, int status);

}  // namespace throttletest::internal
