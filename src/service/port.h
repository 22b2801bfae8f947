// Ports: picking one for a service, and finding out who listens on one.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace throttletest::internal {

// A port of 127.0.0.1 that nobody uses now. Another process may take it before the service does;
// see FindStranger(). Errors: kServiceStart when there is none.
std::uint16_t PickPort();

// The sockets that listen on `port` of the loopback address or of all addresses, by inode.
// `tcp` and `tcp6` are the texts of /proc/net/tcp and /proc/net/tcp6.
std::set<std::uint64_t> ListeningSockets(std::string_view tcp, std::string_view tcp6,
                                         std::uint16_t port);

// Those of `processes` that have a listening socket on `port` of this network namespace. Absent:
// none, or it cannot be told. Source: /proc/net/tcp, /proc/PID/fd.
std::vector<pid_t> ListenersAmong(const std::vector<pid_t>& processes, std::uint16_t port);

// Who listens on `port` of this network namespace, if it is none of `service`'s processes:
// "process 17 (nginx)" or "a process of another user". Absent: empty when nobody listens, when a
// process of the service does, or when it cannot be told.
// Source: /proc/net/tcp, /proc/PID/fd.
std::string FindStranger(std::uint16_t port, const std::vector<pid_t>& service);

}  // namespace throttletest::internal
