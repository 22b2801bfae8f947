#include "running_server.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <system_error>

extern char** environ;

namespace burn_server::test {
namespace {

using throttletest::internal::UniqueFd;

[[noreturn]] void Fail(const std::string& what) {
  throw std::system_error(errno, std::generic_category(), what);
}

// Everything up to and including the line that begins with `start`.
std::string ReadUntilLine(int fd, const std::string& start) {
  std::string text;
  std::array<char, 256> buffer{};
  for (;;) {
    const auto line = text.rfind(start, 0) == 0 ? 0 : text.find("\n" + start);
    if (line != std::string::npos && text.find('\n', line + 1) != std::string::npos) return text;
    const auto got = ::read(fd, buffer.data(), buffer.size());
    if (got <= 0) throw std::runtime_error("burn_server ended before it listened: " + text);
    text.append(buffer.data(), static_cast<std::size_t>(got));
  }
}

}  // namespace

RunningServer::RunningServer(std::vector<std::string> options) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) Fail("pipe2");
  out_ = UniqueFd(ends[0]);
  UniqueFd write_end(ends[1]);

  std::vector<std::string> command = {BURN_SERVER, "--port=0", "--iters-per-ms=100000"};
  command.insert(command.end(), options.begin(), options.end());
  std::vector<char*> arguments;
  for (auto& word : command) arguments.push_back(word.data());
  arguments.push_back(nullptr);

  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, write_end.get(), STDOUT_FILENO);
  errno = ::posix_spawn(&pid_, BURN_SERVER, &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (errno != 0) Fail("posix_spawn " BURN_SERVER);
  // Ours only keeps the pipe open; with it a server that ends would look like one that is slow.
  write_end.Reset();
  greeting_ = ReadUntilLine(out_.get(), "listening on ");
  port_ = std::stoi(greeting_.substr(greeting_.rfind(':') + 1));
}

RunningServer::~RunningServer() {
  if (pid_ > 0) Stop(SIGKILL);
}

int RunningServer::Stop(int signal) {
  ::kill(pid_, signal);
  int status = 0;
  while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  pid_ = -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

long RunningServer::VoluntarySwitches() const {
  long sum = 0;
  for (const auto& task :
       std::filesystem::directory_iterator("/proc/" + std::to_string(pid_) + "/task")) {
    std::ifstream status(task.path() / "status");
    const std::string key = "voluntary_ctxt_switches:";
    for (std::string line; std::getline(status, line);) {
      if (line.rfind(key, 0) == 0) sum += std::stol(line.substr(key.size()));
    }
  }
  return sum;
}

int RunningServer::Threads() const {
  const std::filesystem::directory_iterator tasks("/proc/" + std::to_string(pid_) + "/task");
  return static_cast<int>(std::distance(begin(tasks), end(tasks)));
}

Connection::Connection(int port) : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  const timeval patience{30, 0};
  ::setsockopt(fd_.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::connect(fd_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0) {
    Fail("connect");
  }
}

void Connection::Send(const std::string& bytes) const {
  std::size_t at = 0;
  while (at < bytes.size()) {
    const auto sent = ::send(fd_.get(), bytes.data() + at, bytes.size() - at, MSG_NOSIGNAL);
    if (sent < 0) Fail("send");
    at += static_cast<std::size_t>(sent);
  }
}

void Connection::SendGet(const std::string& target) const {
  Send("GET " + target + " HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n");
}

Reply Connection::Receive() {
  Reply reply;
  std::size_t head = 0;
  while ((head = buffer_.find("\r\n\r\n")) == std::string::npos) {
    if (!More()) return reply;
  }
  reply.headers = buffer_.substr(0, head + 2);
  buffer_.erase(0, head + 4);
  reply.status = std::stoi(reply.headers.substr(reply.headers.find(' ') + 1));
  const auto length_at = reply.headers.find("Content-Length: ");
  if (length_at == std::string::npos) return reply;
  const auto length = std::stoul(reply.headers.substr(length_at + 16));
  while (buffer_.size() < length) {
    if (!More()) return reply;
  }
  reply.body = buffer_.substr(0, length);
  buffer_.erase(0, length);
  return reply;
}

Reply Connection::Get(const std::string& target) {
  SendGet(target);
  return Receive();
}

bool Connection::Readable(std::chrono::milliseconds patience) const {
  pollfd poll{fd_.get(), POLLIN, 0};
  return !buffer_.empty() || ::poll(&poll, 1, static_cast<int>(patience.count())) > 0;
}

int Connection::Retransmissions() const {
  tcp_info info{};
  socklen_t size = sizeof(info);
  if (::getsockopt(fd_.get(), IPPROTO_TCP, TCP_INFO, &info, &size) != 0) Fail("TCP_INFO");
  return static_cast<int>(info.tcpi_total_retrans);
}

bool Connection::AtEnd() { return buffer_.empty() && !More(); }

bool Connection::More() {
  std::array<char, 4096> bytes{};
  const auto got = ::recv(fd_.get(), bytes.data(), bytes.size(), 0);
  if (got < 0 && errno == ECONNRESET) return false;
  if (got < 0) Fail("recv");
  buffer_.append(bytes.data(), static_cast<std::size_t>(got));
  return got > 0;
}

}  // namespace burn_server::test
