// A burn_server that runs as a process of its own, and plain connections to it.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <string>
#include <vector>

#include "base/unique_fd.h"

namespace burn_server::test {

// Starts burn_server on a port the kernel chooses, with a fixed rate of 100000 iterations per ms,
// and waits until it says that it listens. The destructor kills it.
class RunningServer {
 public:
  explicit RunningServer(std::vector<std::string> options = {});
  RunningServer(const RunningServer&) = delete;
  RunningServer& operator=(const RunningServer&) = delete;
  ~RunningServer();

  int port() const { return port_; }
  pid_t pid() const { return pid_; }
  const std::string& greeting() const { return greeting_; }

  // Sends the signal and waits for the end. Units: exit status, or 128 + signal.
  int Stop(int signal);
  // Of all threads together, from /proc. Counts each time a thread went to sleep.
  long VoluntarySwitches() const;
  int Threads() const;

 private:
  throttletest::internal::UniqueFd out_;
  pid_t pid_ = -1;
  int port_ = 0;
  std::string greeting_;
};

struct Reply {
  int status = 0;
  std::string headers;
  std::string body;
};

// One TCP connection to 127.0.0.1; receiving gives up after 30 s.
class Connection {
 public:
  explicit Connection(int port);

  void Send(const std::string& bytes) const;
  // "GET target" with a Host header.
  void SendGet(const std::string& target) const;
  // Absent: status 0 when the server closed the connection first.
  Reply Receive();
  Reply Get(const std::string& target);
  // True when an answer, or the end of the connection, is there within `patience`.
  bool Readable(std::chrono::milliseconds patience) const;
  // Segments the client's kernel had to send again, SYNs included. Source: TCP_INFO.
  int Retransmissions() const;
  // True when the server has closed the connection.
  bool AtEnd();

 private:
  // Absent: false at the end of the stream.
  bool More();

  throttletest::internal::UniqueFd fd_;
  std::string buffer_;
};

}  // namespace burn_server::test
