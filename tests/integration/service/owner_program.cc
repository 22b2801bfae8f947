// owner_program: a test process that is about to die. Starts a service, prints "ready PID", and
// then ends in the way it was told: wait (for a signal), exit, _exit, abort, throw.
//
//   owner_program wait
#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>

#include "service_support.h"

int main(int argc, char** argv) {
  using namespace throttletest;
  const std::string way = argc > 1 ? argv[1] : "wait";
  ServiceSpec spec = test::Toy({"--ignore-term", "--fork=3", "--port={port}"});
  static std::unique_ptr<Service> kept;  // a static object: destroyed after main() by exit()
  kept = StartService(spec);
  std::printf("ready %d\n", static_cast<int>(kept->pid()));
  std::fflush(stdout);
  if (way == "exit") std::exit(0);
  if (way == "_exit") ::_exit(0);
  if (way == "abort") std::abort();
  if (way == "throw") throw std::runtime_error("nobody catches this");
  while (true) ::pause();
}
