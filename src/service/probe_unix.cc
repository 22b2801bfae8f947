#include <fmt/format.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>

#include "base/unique_fd.h"
#include "service/probe.h"

namespace throttletest::internal {

std::string ProbeUnix(const UnixAddress& address, const std::string& path) {
  // Non-blocking: a listener without room answers at once with EAGAIN instead of keeping us.
  const UniqueFd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd.valid()) return fmt::format("no socket: {}", std::strerror(errno));
  if (::connect(fd.get(), address.get(), address.size) == 0) return {};
  return fmt::format("{}: {}", path, std::strerror(errno));
}

}  // namespace throttletest::internal
