// owner_program: a test process that is about to die.
//
//   owner_program WAY [LAUNCHER [MARK [LOAD_MS]]]
//
// Starts a service, prints "ready PID", and then ends in the way it was told: wait (for a signal),
// exit, _exit, abort, throw. With the way "live" it goes through the whole life of a test and says
// where it is: starting, port N, warm-up, load, drain, trusted or untrusted, stopping, stopped.
// MARK is a word on the command line of everything it starts.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>

#include "service_support.h"
#include "throttletest/base/error.h"
#include "throttletest/measure/measure.h"

namespace {

using namespace throttletest;

void Say(const std::string& line) {
  std::puts(line.c_str());
  std::fflush(stdout);
}

int Live(ServiceSpec spec, std::chrono::milliseconds load) {
  Say("starting");
  const std::unique_ptr<Service> service = StartService(spec);
  Say(fmt::format("port {}", service->port()));
  MeasureOptions options;
  options.retries = 0;
  std::string phase;
  options.progress = [&phase](const MeasureProgress& progress) {
    if (phase == progress.phase) return;
    phase = progress.phase;
    Say(phase);
  };
  // A long load is for being killed in, and a warm-up that is as long would only delay it.
  const auto warm_up = std::min(load / 2, std::chrono::milliseconds(100));
  const LoadPlan plan = Batches(1).Every(std::chrono::milliseconds(50)).For(load).WarmUp(warm_up);
  const Measurement m = MeasureService(*service, plan, Get("/"), options);
  Say(m.validity.trusted() ? "trusted" : "untrusted: " + m.validity.ToString());
  Say("stopping");
  service->Stop();
  Say("stopped");
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const auto argument = [&](int i, const char* absent) { return i < argc ? argv[i] : absent; };
  const std::string way = argument(1, "wait");
  ServiceSpec spec = test::Toy({std::string("--print=") + argument(3, "unmarked"), "--ignore-term",
                                "--fork=50", "--port={port}"});
  spec.launcher = ParseLauncher(argument(2, "cgroup"));
  spec.stop_grace = std::chrono::milliseconds(100);
  if (way == "live") {
    try {
      return Live(spec, std::chrono::milliseconds(std::atoi(argument(4, "200"))));
    } catch (const Error& e) {
      Say(std::string("error: ") + e.what());
      return 1;
    }
  }
  static std::unique_ptr<Service> kept;  // a static object: destroyed after main() by exit()
  kept = StartService(spec);
  Say(fmt::format("ready {}", kept->pid()));
  if (way == "exit") std::exit(0);
  if (way == "_exit") ::_exit(0);
  if (way == "abort") std::abort();
  if (way == "throw") throw std::runtime_error("nobody catches this");
  while (true) ::pause();
}
