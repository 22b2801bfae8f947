// HttpServer: HTTP/1.1 by cpp-httplib on connections that wait without using CPU.
//
// cpp-httplib's own loop wakes every idle kept-alive connection about 90 times a second and holds
// one of a fixed number of threads for it. Both would falsify what this server is for: the wake-ups
// are CPU time and scheduler periods of the cgroup, and the ninth connection of eight threads would
// starve. So the library does the protocol, and accepting and waiting are done here.
#pragma once

#include <functional>
#include <memory>

#include "listener.h"
#include "routes.h"

namespace burn_server {

// Serves until stopped. Every connection has a thread, of up to 1024; further connections wait.
class HttpServer {
 public:
  using Handler = std::function<HttpReply(const HttpRequest&)>;

  // The handler is called from many threads at once.
  explicit HttpServer(Handler handler);
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;
  ~HttpServer();

  // Begins to accept. Once.
  void Start(Listener listener);
  // Closes the listener and all connections, and waits for the requests in the handler. Idempotent.
  void Stop();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace burn_server
