// The bare minimum of HTTP for the benchmark's own clients: connected sockets, one request as text,
// and the size of the answer, which is taken from the first one and must not change.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <string>

#include "client.h"

namespace throttletest::bench {

// A blocking connection with TCP_NODELAY.
inline int Connect(int port) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) DieOfCall("socket");
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    DieOfCall("connect to 127.0.0.1:" + std::to_string(port));
  }
  const int on = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  return fd;
}

inline std::string RequestText(const Options& options) {
  return "GET " + options.path + " HTTP/1.1\r\nHost: 127.0.0.1:" + std::to_string(options.port) +
         "\r\n\r\n";
}

inline void WriteRequest(int fd, const std::string& request) {
  if (send(fd, request.data(), request.size(), MSG_NOSIGNAL) !=
      static_cast<ssize_t>(request.size())) {
    DieOfCall("send");
  }
}

// One request on a blocking connection. Returns the bytes of its answer, header and body.
inline std::size_t MeasureAnswer(int fd, const std::string& request) {
  WriteRequest(fd, request);
  std::string answer;
  char buffer[4096];
  for (;;) {
    const ssize_t n = recv(fd, buffer, sizeof buffer, 0);
    if (n <= 0) Die("the service closed the connection or does not answer");
    answer.append(buffer, static_cast<std::size_t>(n));
    const std::size_t end = answer.find("\r\n\r\n");
    if (end == std::string::npos) continue;
    const std::size_t length = answer.find("Content-Length: ");
    if (length == std::string::npos || length > end) Die("the answer has no Content-Length");
    const std::size_t size = end + 4 + std::strtoul(answer.c_str() + length + 16, nullptr, 10);
    if (answer.size() > size) Die("the answer is longer than it says");
    if (answer.size() == size) return size;
  }
}

}  // namespace throttletest::bench
