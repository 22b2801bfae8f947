// burn_server: serves work whose cost is known, or measures this machine for it.
#include <pthread.h>

#include <csignal>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

#include "calibrate.h"
#include "http_server.h"
#include "listener.h"
#include "options.h"
#include "routes.h"
#include "work_gate.h"

namespace burn_server {
namespace {

// 10 slices of 5 ms. The best of them: whatever disturbs a slice can only make it slower.
std::uint64_t CalibrateAtStart() { return Calibrate(10, 5).Best(); }

int RunCalibrate(const Options& options) {
  const auto calibration = Calibrate(21, 10);
  if (options.json) {
    std::cout << "{\"iters_per_ms\":" << calibration.Median()
              << ",\"slices\":" << calibration.rates.size() << ",\"min\":" << calibration.Worst()
              << ",\"max\":" << calibration.Best() << "}\n";
  } else {
    std::cout << "ITERS_PER_MS=" << calibration.Median() << '\n';
  }
  return std::cout.flush() ? 0 : 1;
}

// Blocked in every thread and fetched by sigwait: no handler, and it works as process 1 of a
// container, where an unhandled SIGTERM would be ignored.
sigset_t BlockStopSignals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  return signals;
}

int RunServe(const Options& options) {
  const sigset_t stop_signals = BlockStopSignals();
  Listener listener = Listen(options.host, options.port);
  const auto rate = options.iters_per_ms ? *options.iters_per_ms : CalibrateAtStart();
  std::cout << "iterations per ms: " << rate << " ("
            << (options.iters_per_ms ? options.iters_source : "measured at start") << ")\n";

  WorkGate gate(options.Slots(), options.queue_depth);
  Routes routes(rate, gate);
  HttpServer server([&routes](const HttpRequest& request) { return routes.Answer(request); });
  const std::string address = listener.address;
  server.Start(std::move(listener));
  std::cout << "listening on " << address << std::endl;

  int signal = 0;
  sigwait(&stop_signals, &signal);
  routes.Stop();
  server.Stop();
  return 0;
}

int Main(int argc, char** argv) {
  const auto parsed = ParseCommandLine(std::vector<std::string>(argv + 1, argv + argc),
                                       std::getenv("ITERS_PER_MS"));
  if (parsed.exit) {
    (parsed.exit->status == 0 ? std::cout : std::cerr) << parsed.exit->text;
    return parsed.exit->status;
  }
  try {
    return parsed.options.command == Command::kCalibrate ? RunCalibrate(parsed.options)
                                                         : RunServe(parsed.options);
  } catch (const std::invalid_argument& e) {
    std::cerr << "burn_server: " << e.what() << '\n';
    return 2;
  } catch (const std::exception& e) {
    std::cerr << e.what() << '\n';
    return 1;
  }
}

}  // namespace
}  // namespace burn_server

int main(int argc, char** argv) { return burn_server::Main(argc, argv); }
