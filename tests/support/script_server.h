// ScriptServer: a TCP server on 127.0.0.1 whose every connection is handled by a test's function,
// with plain sockets, so that a test can answer as badly as it likes.
//
//   ScriptServer server([](Peer& peer) {
//     while (peer.ReadRequest()) peer.Send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
//   });
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/unique_fd.h"

namespace throttletest::testing_support {

inline constexpr std::string_view kEmptyAnswer = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";

class ScriptServer;

// One accepted connection. Closed with FIN when the script returns.
class Peer {
 public:
  Peer(ScriptServer& server, internal::UniqueFd fd, int index)
      : server_(server), fd_(std::move(fd)), index_(index) {}

  // One whole request: header and Content-Length body. Absent: the client closed, or the server
  // stops.
  std::optional<std::string> ReadRequest();
  // False when the client is gone.
  bool Send(std::string_view bytes);
  // Waits. False when the server stops meanwhile.
  bool Wait(std::chrono::nanoseconds duration);
  // Closes with RST.
  void Reset();

  // 0 for the first accepted connection.
  int index() const { return index_; }

 private:
  friend class ScriptServer;

  ScriptServer& server_;
  internal::UniqueFd fd_;
  int index_;
  std::string rest_;  // read, but of the request after
};

class ScriptServer {
 public:
  using Script = std::function<void(Peer&)>;

  // Units: accept_delay: between listening and the first accept; backlog as for listen().
  explicit ScriptServer(Script script, std::chrono::nanoseconds accept_delay = {},
                        int backlog = 4096);
  // Wakes and joins every script.
  ~ScriptServer();
  ScriptServer(const ScriptServer&) = delete;
  ScriptServer& operator=(const ScriptServer&) = delete;

  std::uint16_t port() const { return port_; }
  int accepted() const { return accepted_; }
  // Whole requests read on all connections.
  int requests() const { return requests_; }

 private:
  friend class Peer;

  void AcceptLoop(std::chrono::nanoseconds delay);
  void RunScript(internal::UniqueFd fd, int index);
  bool WaitOrStop(std::chrono::nanoseconds duration);

  Script script_;
  std::uint16_t port_ = 0;  // before the listener, whose construction sets it
  internal::UniqueFd listener_;
  std::atomic<int> accepted_ = 0;
  std::atomic<int> requests_ = 0;
  std::mutex mutex_;
  std::condition_variable stopped_changed_;
  bool stopped_ = false;
  std::vector<Peer*> peers_;
  std::vector<std::thread> scripts_;  // only the accepting thread adds to it
  std::thread acceptor_;
};

// A port of 127.0.0.1 where nobody listens.
std::uint16_t ClosedPort();

}  // namespace throttletest::testing_support
