#include "http_server.h"

#include <httplib.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <memory>
#include <system_error>
#include <thread>
#include <utility>

#include "socket_stream.h"
#include "thread_cache.h"

namespace burn_server {
namespace {

using throttletest::internal::UniqueFd;

constexpr std::size_t kMaxConnections = 1024;
// Idle connections cost nothing, so they may stay; announced to the client in the Keep-Alive
// header.
constexpr std::chrono::seconds kKeepAliveTimeout{600};
constexpr std::size_t kKeepAliveMaxCount = 1000000;
constexpr std::size_t kMaxBodyBytes = 1U << 20U;

HttpRequest Translate(const httplib::Request& request) {
  return {request.path, {request.params.begin(), request.params.end()}};
}

void Translate(const HttpReply& reply, httplib::Response& response) {
  response.status = reply.status;
  response.set_content(reply.body, reply.content_type);
}

// True when a GET or HEAD announces a body. The library leaves it unread, and the next request on
// the connection would begin in the middle of it.
bool HasUnreadBody(const httplib::Request& request) {
  if (request.method != "GET" && request.method != "HEAD") return false;
  return request.has_header("Transfer-Encoding") ||
         (request.has_header("Content-Length") &&
          request.get_header_value("Content-Length") != "0");
}

}  // namespace

class HttpServer::Impl final : private httplib::Server {
 public:
  explicit Impl(HttpServer::Handler handler)
      : handler_(std::move(handler)), threads_(kMaxConnections) {
    set_keep_alive_timeout(kKeepAliveTimeout.count());
    set_keep_alive_max_count(kKeepAliveMaxCount);
    set_payload_max_length(kMaxBodyBytes);
    // Before routing: the library would match the path against a regular expression per route.
    set_pre_routing_handler([this](const httplib::Request& request, httplib::Response& response) {
      if (request.method != "GET" && request.method != "HEAD") return HandlerResponse::Unhandled;
      Translate(handler_(Translate(request)), response);
      return HandlerResponse::Handled;
    });
    set_error_handler([](const httplib::Request& request, httplib::Response& response) {
      if (response.body.empty()) {
        if (response.status == 404) response.status = 405;
        Translate(
            ErrorReply(response.status, "cannot answer " + request.method + " " + request.path +
                                            "; this server answers GET and HEAD"),
            response);
      }
    });
  }

  ~Impl() override { StopAll(); }

  void Start(Listener listener) {
    stop_ = UniqueFd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    if (!stop_.valid()) throw std::system_error(errno, std::generic_category(), "eventfd");
    listener_ = std::move(listener.fd);
    acceptor_ = std::thread([this] { Accept(); });
  }

  void StopAll() {
    if (!acceptor_.joinable()) return;
    const std::uint64_t one = 1;
    [[maybe_unused]] const auto written = ::write(stop_.get(), &one, sizeof(one));
    acceptor_.join();
    listener_.Reset();
    threads_.Join();
  }

 private:
  void Accept() {
    while (Wait(listener_.get(), POLLIN, -1)) {
      UniqueFd socket(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
      if (!socket.valid()) {
        // Out of descriptors: the connection stays in the backlog until one comes free.
        if (errno == EMFILE || errno == ENFILE || errno == ENOMEM) Wait(-1, 0, 10);
        continue;
      }
      // std::function wants a copyable job.
      auto shared = std::make_shared<UniqueFd>(std::move(socket));
      try {
        threads_.Run([this, shared] { Serve(std::move(*shared)); });
      } catch (const std::system_error& e) {
        std::fprintf(stderr, "burn_server: no thread for a connection: %s\n", e.what());
      }
    }
  }

  void Serve(UniqueFd socket) {
    try {
      SocketStream stream(std::move(socket), stop_.get());
      while (stream.WaitForRequest(kKeepAliveTimeout)) {
        bool closed = false;
        const bool good = ProcessOne(stream, closed);
        if (!stream.Flush() || !good || closed) break;
      }
    } catch (const std::exception& e) {
      std::fprintf(stderr, "burn_server: connection dropped: %s\n", e.what());
    }
  }

  // cpp-httplib 0.11 to 0.14, or 0.15 and later, where the addresses became arguments.
  bool ProcessOne(SocketStream& stream, bool& closed) {
    const auto setup = [&closed](httplib::Request& request) {
      if (HasUnreadBody(request)) {
        closed = true;
        request.headers.erase("Connection");
        request.set_header("Connection", "close");
      }
    };
    return Process(*this, stream, closed, setup);
  }

  template <typename Self>
  static bool Process(Self& self, httplib::Stream& stream, bool& closed,
                      const std::function<void(httplib::Request&)>& setup) {
    if constexpr (requires { self.process_request(stream, false, closed, setup); }) {
      return self.process_request(stream, false, closed, setup);
    } else {
      return self.process_request(stream, "", 0, "", 0, false, closed, setup);
    }
  }

  // False on stop. Units: milliseconds, -1 forever. Absent: fd -1 waits for stop or the timeout
  // alone.
  bool Wait(int fd, short events, int timeout_ms) const {
    std::array<pollfd, 2> fds{{{fd, events, 0}, {stop_.get(), POLLIN, 0}}};
    while (::poll(fds.data(), fds.size(), timeout_ms) < 0 && errno == EINTR) {
    }
    return fds[1].revents == 0;
  }

  HttpServer::Handler handler_;
  UniqueFd stop_;
  UniqueFd listener_;
  ThreadCache threads_;
  std::thread acceptor_;
};

HttpServer::HttpServer(Handler handler) : impl_(std::make_unique<Impl>(std::move(handler))) {}

HttpServer::~HttpServer() = default;

void HttpServer::Start(Listener listener) { impl_->Start(std::move(listener)); }

void HttpServer::Stop() { impl_->StopAll(); }

}  // namespace burn_server
