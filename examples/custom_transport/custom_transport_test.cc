// A protocol of one's own under the same schedule, with the same records and budgets as HTTP.
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <throttletest/throttletest.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

namespace {

using namespace throttletest;
using namespace std::chrono_literals;
using testing::AllOf;

// One connection of a client that can only block.
class EchoClient {
 public:
  explicit EchoClient(std::uint16_t port) {
    socket_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const int on = 1;
    ::setsockopt(socket_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    // A frozen service must not keep the thread, and the test with it.
    const timeval patience{.tv_sec = 10, .tv_usec = 0};
    ::setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(port);
    connected_ = ::connect(socket_, reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0;
  }
  EchoClient(const EchoClient&) = delete;
  EchoClient& operator=(const EchoClient&) = delete;
  ~EchoClient() { ::close(socket_); }

  TransportResult Exchange(const std::string& line) {
    if (!connected_ || ::send(socket_, line.data(), line.size(), MSG_NOSIGNAL) < 0) {
      return {.ok = false, .reason = std::strerror(errno)};
    }
    std::string answer;
    while (!answer.ends_with('\n')) {
      char buffer[256];
      const ssize_t got = ::recv(socket_, buffer, sizeof(buffer), 0);
      if (got <= 0)
        return {.ok = false, .reason = got == 0 ? "connection closed" : std::strerror(errno)};
      answer.append(buffer, static_cast<std::size_t>(got));
    }
    if (answer != line) return {.ok = false, .reason = "another line came back"};
    return {};
  }

 private:
  int socket_ = -1;
  bool connected_ = false;
};

class EchoLimit : public ThrottleTest {
 protected:
  ServiceSpec Service() override {
    return {.command = {ECHO_SERVER, "{port}"}, .limits = {.cpus = 1.0}, .ready = TcpReady()};
  }
};

TEST_F(EchoLimit, LinesComeBackWithinTheQuota) {
  const std::uint16_t port = service().port();
  // As many threads as lines that start at once; each thread keeps its connection.
  const Request echo =
      Custom("echo", Blocking(8, [port](const TransportCall& call) {
               thread_local EchoClient client(port);
               return client.Exchange("line " + std::to_string(call.number) + "\n");
             }));
  const Measurement m = Measure(Batches(8).Every(500ms).For(10s).WarmUp(1s), echo);
  EXPECT_THAT(m, AllOf(ThrottleRatioBelow(0.10), P50Below(150ms), NoFailedRequests()));
}

}  // namespace
