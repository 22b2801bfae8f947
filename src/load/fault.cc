#include "load/fault.h"

#include <fmt/format.h>

#include <cerrno>
#include <system_error>

namespace throttletest::internal {
namespace {

std::string ErrorText(int error) { return std::generic_category().message(error); }

}  // namespace

Fault ConnectFault(int error) {
  switch (error) {
    // The kernel says EADDRNOTAVAIL when every local port to this address is taken or in TIME_WAIT.
    case EADDRNOTAVAIL:
    case EADDRINUSE:
      return {.reason = "no free local port", .generator = true};
    case EMFILE:
    case ENFILE:
      return {.reason = "no free file descriptor (raise ulimit -n)", .generator = true};
    case ENOBUFS:
    case ENOMEM:
      return {.reason = "no memory for a connection", .generator = true};
    case EPERM:
    case EACCES:
      return {.reason = "connecting is not permitted here", .generator = true};
    case ECONNREFUSED:
      return {.reason = "connection refused", .closed = true};
    case ECONNRESET:
      return {.reason = "connection reset", .closed = true};
    default:
      return {.reason = fmt::format("connecting failed: {}", ErrorText(error))};
  }
}

Fault BrokenFault(int error) {
  switch (error) {
    case ECONNRESET:
    case EPIPE:
      return {.reason = "connection reset", .closed = true};
    case ENOBUFS:
    case ENOMEM:
      return {.reason = "no memory for a connection", .generator = true};
    default:
      return {.reason = fmt::format("connection broken: {}", ErrorText(error))};
  }
}

}  // namespace throttletest::internal
