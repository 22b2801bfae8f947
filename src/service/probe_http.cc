#include <fmt/format.h>
#include <httplib.h>
#include <pthread.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <ctime>

#include "base/text.h"
#include "service/probe.h"
#include "throttletest/base/duration.h"

namespace throttletest::internal {
namespace {

// The client writes without MSG_NOSIGNAL: a service that resets the connection would end the test
// process with SIGPIPE.
class NoSigpipe {
 public:
  NoSigpipe() {
    ::sigemptyset(&pipe_);
    ::sigaddset(&pipe_, SIGPIPE);
    ::pthread_sigmask(SIG_BLOCK, &pipe_, &before_);
  }
  NoSigpipe(const NoSigpipe&) = delete;
  NoSigpipe& operator=(const NoSigpipe&) = delete;
  ~NoSigpipe() {
    if (::sigismember(&before_, SIGPIPE) == 1) return;
    const timespec now{.tv_sec = 0, .tv_nsec = 0};
    while (::sigtimedwait(&pipe_, nullptr, &now) > 0) {
    }
    ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }

 private:
  sigset_t pipe_{};
  sigset_t before_{};
};

std::string Explain(httplib::Error error, const ReadinessTarget& target) {
  const std::string where = fmt::format("{}:{}", target.host, target.port);
  switch (error) {
    case httplib::Error::Connection:
      return where + ": connection refused";
    case httplib::Error::Write:
      return where + ": connection closed before the request was sent";
    case httplib::Error::Read:
      return fmt::format("{}: no complete answer within {}", where, ToString(target.patience));
    default:
      return fmt::format("{}: {}", where, Lower(httplib::to_string(error)));
  }
}

}  // namespace

std::string ProbeHttp(const ReadinessTarget& target, const std::string& path, int status) {
  const NoSigpipe guard;
  httplib::Client client(target.host, target.port);
  const auto patience =
      std::max(std::chrono::duration_cast<std::chrono::microseconds>(target.patience),
               std::chrono::microseconds(1000));
  client.set_connection_timeout(patience);
  client.set_read_timeout(patience);
  client.set_write_timeout(patience);
  client.set_keep_alive(false);
  const auto began = std::chrono::steady_clock::now();
  std::size_t received = 0;
  constexpr std::size_t kEnough = std::size_t{64} << 10;
  int answered = 0;
  const auto result = client.Get(
      path,
      [&](const httplib::Response& response) {
        answered = response.status;
        return true;
      },
      [&](const char*, std::size_t size) {
        received += size;
        return received < kEnough;  // an endless answer is an answer
      });
  if (!result && !(answered != 0 && result.error() == httplib::Error::Canceled)) {
    // The library has one error for "closed without an answer" and "no answer in time".
    const bool early = std::chrono::steady_clock::now() - began < patience * 9 / 10;
    if (result.error() == httplib::Error::Read && early) {
      return fmt::format("{}:{}: connection closed without a complete answer", target.host,
                         target.port);
    }
    return Explain(result.error(), target);
  }
  if (answered != status) return fmt::format("GET {} answered {}", path, answered);
  return {};
}

}  // namespace throttletest::internal
