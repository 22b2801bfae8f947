// SocketStream: one connection as cpp-httplib sees it, waiting without waking up.
#pragma once

#include <httplib.h>

#include <chrono>
#include <string>
#include <vector>

#include "base/unique_fd.h"

namespace burn_server {

// Buffered in both directions: a reply leaves in one segment, and requests that arrive together are
// all kept. Every wait also ends when `stop_fd` becomes readable.
class SocketStream final : public httplib::Stream {
 public:
  // Owns the socket, which must not block; stop_fd belongs to the caller.
  SocketStream(throttletest::internal::UniqueFd socket, int stop_fd);

  // Waits until a request begins. False when the peer is gone, nothing came for `timeout`, or on
  // stop.
  bool WaitForRequest(std::chrono::milliseconds timeout);
  // Sends what was written. False when the peer does not take it.
  bool Flush();

  bool is_readable() const override;
  bool is_writable() const override;
  ssize_t read(char* ptr, size_t size) override;
  ssize_t write(const char* ptr, size_t size) override;
  void get_remote_ip_and_port(std::string& ip, int& port) const override;
  void get_local_ip_and_port(std::string& ip, int& port) const override;
  socket_t socket() const override;

 private:
  bool Wait(short events, std::chrono::milliseconds timeout) const;
  // More bytes into the read buffer. Units: bytes; 0 at the end, -1 on failure, timeout or stop.
  ssize_t Fill();

  throttletest::internal::UniqueFd socket_;
  const int stop_fd_;
  std::vector<char> in_;
  std::size_t in_at_ = 0;
  std::string out_;
};

}  // namespace burn_server
