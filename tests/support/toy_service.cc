// toy_service: a small program that misbehaves on request. The system under test of the launchers'
// own tests; flags are done from left to right.
//
//   --burn=MS          uses MS milliseconds of CPU time
//   --touch=MIB        allocates and writes MIB mebibytes, and keeps them
//   --child-touch=MIB  the same in a child process, whose end is waited for and ignored
//   --print=TEXT       writes a line
//   --flood=KIB        writes KIB kibibytes of lines
//   --sleep=MS         waits
//   --ignore-term      ignores SIGTERM
//   --fork=N           starts N children that ignore SIGTERM and sleep
//   --exit=STATUS      ends
//   --status=CODE      what every request is answered with, default 200
//   --close-first=N    closes the first N connections without an answer
//   --print-env=NAME   writes a line NAME=VALUE
//   --port=N           listens on 127.0.0.1:N and answers HTTP requests for ever; status 4 when the
//                      port is taken
//   --blink=N          listens on N for 300 ms, closes, waits 500 ms, listens for ever
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string>
#include <string_view>

namespace {

struct Behaviour {
  int status = 200;
  int close_first = 0;
};

std::int64_t NowMs(clockid_t clock) {
  timespec now{};
  ::clock_gettime(clock, &now);
  return static_cast<std::int64_t>(now.tv_sec) * 1000 + now.tv_nsec / 1000000;
}

void Burn(int ms) {
  while (NowMs(CLOCK_PROCESS_CPUTIME_ID) < ms) {
  }
}

void Touch(int mib) {
  const std::size_t size = static_cast<std::size_t>(mib) << 20;
  char* memory = static_cast<char*>(std::malloc(size));
  for (std::size_t i = 0; i < size; i += 4096) memory[i] = static_cast<char>(i >> 12 | 1);
  std::printf("touched %d MiB at %p\n", mib, static_cast<void*>(memory));
}

void ChildTouch(int mib) {
  const pid_t child = ::fork();
  if (child == 0) {
    Touch(mib);
    std::_Exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  std::printf("child ended by signal %d\n", WIFSIGNALED(status) ? WTERMSIG(status) : 0);
}

void Sleep(int ms) { ::usleep(static_cast<useconds_t>(ms) * 1000); }

void Fork(int count) {
  for (int i = 0; i < count; ++i) {
    if (::fork() != 0) continue;
    std::signal(SIGTERM, SIG_IGN);
    while (true) ::pause();
  }
}

void Flood(int kib) {
  const std::string line(1023, 'x');
  for (int i = 0; i < kib; ++i) std::puts(line.c_str());
  std::puts("flood done");
}

int Listen(int port) {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int on = 1;
  ::setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof(address)) != 0 ||
      ::listen(fd, 128) != 0) {
    std::printf("cannot listen on %d: %s\n", port, std::strerror(errno));
    std::exit(4);
  }
  std::printf("listening on %d\n", port);
  return fd;
}

void ServeOne(int client, Behaviour& behaviour) {
  char buffer[4096];
  if (behaviour.close_first > 0) {
    --behaviour.close_first;
  } else if (::recv(client, buffer, sizeof(buffer), 0) > 0) {
    const std::string answer = "HTTP/1.1 " + std::to_string(behaviour.status) +
                               " Toy\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok";
    [[maybe_unused]] const ssize_t sent =
        ::send(client, answer.data(), answer.size(), MSG_NOSIGNAL);
  }
  ::close(client);
}

[[noreturn]] void Serve(int port, Behaviour behaviour) {
  const int fd = Listen(port);
  while (true) {
    const int client = ::accept(fd, nullptr, nullptr);
    if (client >= 0) ServeOne(client, behaviour);
  }
}

void Do(std::string_view flag, const std::string& value, Behaviour& behaviour) {
  const int number = std::atoi(value.c_str());
  if (flag == "--burn") return Burn(number);
  if (flag == "--touch") return Touch(number);
  if (flag == "--child-touch") return ChildTouch(number);
  if (flag == "--print") return static_cast<void>(std::puts(value.c_str()));
  if (flag == "--flood") return Flood(number);
  if (flag == "--sleep") return Sleep(number);
  if (flag == "--ignore-term") return static_cast<void>(std::signal(SIGTERM, SIG_IGN));
  if (flag == "--fork") return Fork(number);
  if (flag == "--exit") std::exit(number);
  if (flag == "--status") return static_cast<void>(behaviour.status = number);
  if (flag == "--close-first") return static_cast<void>(behaviour.close_first = number);
  if (flag == "--port") Serve(number, behaviour);
  if (flag == "--print-env") {
    const char* found = std::getenv(value.c_str());
    std::printf("%s=%s\n", value.c_str(), found == nullptr ? "(unset)" : found);
    return;
  }
  if (flag == "--blink") {
    const int fd = Listen(number);
    Sleep(300);
    ::close(fd);
    Sleep(500);
    Serve(number, behaviour);
  }
  std::printf("toy_service: unknown flag %s\n", std::string(flag).c_str());
  std::exit(2);
}

}  // namespace

int main(int argc, char** argv) {
  std::setvbuf(stdout, nullptr, _IOLBF, BUFSIZ);
  Behaviour behaviour;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const auto equals = word.find('=');
    Do(std::string_view(word).substr(0, equals),
       equals == std::string::npos ? std::string() : word.substr(equals + 1), behaviour);
  }
  return 0;
}
