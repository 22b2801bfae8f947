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
#include <memory>
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

// How the bytes of a connection travel when not as they are.
class Wire {
 public:
  virtual ~Wire() = default;
  // As recv() and send().
  virtual ssize_t Receive(char* room, std::size_t size) = 0;
  virtual ssize_t Send(std::string_view bytes) = 0;
};

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
  // Ends what is sent with FIN; more can be received.
  void EndSending();
  // Has everything after this go through the wire.
  void Use(std::unique_ptr<Wire> wire) { wire_ = std::move(wire); }
  int fd() const { return fd_.get(); }

  // 0 for the first accepted connection.
  int index() const { return index_; }

 private:
  friend class ScriptServer;

  ScriptServer& server_;
  internal::UniqueFd fd_;
  int index_;
  std::string rest_;  // read, but of the request after
  std::unique_ptr<Wire> wire_;
};

class ScriptServer {
 public:
  using Script = std::function<void(Peer&)>;

  // Units: accept_delay: between listening and the first accept; backlog as for listen().
  explicit ScriptServer(Script script, std::chrono::nanoseconds accept_delay = {},
                        int backlog = 4096);
  // On a socket that is bound already.
  ScriptServer(Script script, internal::UniqueFd bound, int backlog);
  // Wakes and joins every script.
  ~ScriptServer();
  ScriptServer(const ScriptServer&) = delete;
  ScriptServer& operator=(const ScriptServer&) = delete;

  // Units: 0 on a Unix socket.
  std::uint16_t port() const { return port_; }
  int accepted() const { return accepted_; }
  // Whole requests read on all connections.
  int requests() const { return requests_; }

 private:
  friend class Peer;

  void Start(std::chrono::nanoseconds accept_delay, int backlog);
  void AcceptLoop(std::chrono::nanoseconds delay);
  void RunScript(internal::UniqueFd fd, int index);
  bool WaitOrStop(std::chrono::nanoseconds duration);

  Script script_;
  internal::UniqueFd listener_;
  std::uint16_t port_ = 0;
  std::atomic<int> accepted_ = 0;
  std::atomic<int> requests_ = 0;
  std::mutex mutex_;
  std::condition_variable stopped_changed_;
  bool stopped_ = false;
  std::vector<Peer*> peers_;
  std::vector<std::thread> scripts_;  // only the accepting thread adds to it
  std::thread acceptor_;
};

// Sockets that are bound, to a free port of ::1 and to the path or '@' and an abstract name.
internal::UniqueFd BoundV6();
internal::UniqueFd BoundUnix(const std::string& path);

// A port of 127.0.0.1 where nobody listens.
std::uint16_t ClosedPort();

}  // namespace throttletest::testing_support
