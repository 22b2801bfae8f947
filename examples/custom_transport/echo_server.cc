// Sends every line that it gets back, after some work. A thread for each connection.
//
//   echo_server PORT
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <thread>

namespace {

// A few milliseconds of CPU time, so that a small quota is felt.
void Work() {
  unsigned value = 1;
  for (int i = 0; i < 2'000'000; ++i) {
    value = value * 1664525u + 1013904223u;
    asm volatile("" : "+r"(value));
  }
}

void Serve(int connection) {
  char buffer[4096];
  for (;;) {
    const ssize_t got = ::recv(connection, buffer, sizeof(buffer), 0);
    if (got <= 0) break;
    if (buffer[got - 1] == '\n') Work();
    if (::send(connection, buffer, static_cast<size_t>(got), MSG_NOSIGNAL) != got) break;
  }
  ::close(connection);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: echo_server PORT\n");
    return 2;
  }
  const int listener = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int on = 1;
  ::setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<std::uint16_t>(std::atoi(argv[1])));
  if (::bind(listener, reinterpret_cast<sockaddr*>(&address), sizeof(address)) != 0 ||
      ::listen(listener, 128) != 0) {
    std::perror("echo_server");
    return 1;
  }
  for (;;) {
    const int connection = ::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
    if (connection >= 0) std::thread(Serve, connection).detach();
  }
}
