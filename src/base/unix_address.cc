#include "base/unix_address.h"

#include <fmt/format.h>

#include <cstddef>
#include <cstring>

#include "base/refuse.h"

namespace throttletest::internal {

UnixAddress ResolveUnix(const std::string& path) {
  UnixAddress unix_address;
  sockaddr_un& address = unix_address.address;
  address.sun_family = AF_UNIX;
  if (path.empty()) Refuse("path of the Unix socket is empty");
  // A path ends with a zero; an abstract name starts with one instead.
  if (path.size() >= sizeof(address.sun_path)) {
    Refuse(
        fmt::format("path \"{}\" of the Unix socket has {} bytes, but the kernel takes at most {}: "
                    "use a shorter folder, or a relative path",
                    path, path.size(), sizeof(address.sun_path) - 1));
  }
  if (path.find('\0') != std::string::npos) {
    Refuse("path of the Unix socket must not hold a zero byte; write '@' for an abstract name");
  }
  std::memcpy(address.sun_path, path.data(), path.size());
  unix_address.size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + path.size());
  if (path.front() == '@') {
    address.sun_path[0] = '\0';
  } else {
    ++unix_address.size;
  }
  return unix_address;
}

}  // namespace throttletest::internal
