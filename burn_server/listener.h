// A listening TCP socket.
#pragma once

#include <cstdint>
#include <string>

#include "base/unique_fd.h"

namespace burn_server {

// A bound socket that listens already.
struct Listener {
  throttletest::internal::UniqueFd fd;
  std::string address;  // "127.0.0.1:8080", "[::1]:8080"
};

// Binds and listens. The backlog is deep: a batch of new connections must not lose SYNs, which the
// client would see as a latency of one second.
//
// Units:  port 0 lets the kernel choose; `address` has the chosen one.
// Errors: std::system_error "cannot listen on HOST:PORT" with the kernel's reason;
//         std::invalid_argument when host is neither a numeric address nor "localhost".
Listener Listen(const std::string& host, std::uint16_t port);

}  // namespace burn_server
