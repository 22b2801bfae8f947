// UnixAddress: a path, or '@' and an abstract name, as the kernel takes it.
#pragma once

#include <sys/socket.h>
#include <sys/un.h>

#include <string>

namespace throttletest::internal {

struct UnixAddress {
  sockaddr_un address{};
  socklen_t size = 0;

  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&address); }
};

// Errors: kInvalidArgument quoting a path that is empty, too long or holds a zero byte.
UnixAddress ResolveUnix(const std::string& path);

}  // namespace throttletest::internal
