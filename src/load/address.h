// SocketAddress: an Endpoint as the kernel wants it.
#pragma once

#include <sys/socket.h>

#include "throttletest/load/request.h"

namespace throttletest::internal {

struct SocketAddress {
  sockaddr_storage storage{};
  socklen_t size = 0;

  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage); }
  int family() const { return storage.ss_family; }
};

// No name service is asked: a loopback address, "localhost" for 127.0.0.1, or a Unix socket.
// Errors: kInvalidArgument quoting the endpoint.
SocketAddress Resolve(const Endpoint& endpoint);

}  // namespace throttletest::internal
