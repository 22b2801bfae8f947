#include "options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "base/number.h"

namespace burn_server {
namespace {

constexpr std::uint64_t kMaxItersPerMs = 1000000000;

constexpr const char* kDescription =
    "burn_server: a reference service whose requests cost a known amount of CPU.\n\n"
    "  GET /burn?ms=N&mb=M  does N x ITERS_PER_MS iterations (about N ms of CPU time on an idle "
    "CPU)\n"
    "                       while holding M MiB, and answers JSON: cpu_ms, wall_ms, queued_ms,\n"
    "                       iterations, checksum. 0 <= N <= 600000, fractions allowed;\n"
    "                       0 <= M <= 65536, default 0.\n"
    "  GET /healthz         answers \"ok\", also while every worker burns.\n\n"
    "Open connections are not limited by --threads: an idle one costs a sleeping thread and no "
    "CPU.\n"
    "--port=0 lets the kernel choose; \"listening on HOST:PORT\" is printed once connections are "
    "taken.\n"
    "SIGTERM and SIGINT end it with status 0.";

constexpr const char* kCalibrateDescription =
    "Measure how many iterations take one millisecond of CPU time here, and print ITERS_PER_MS=N";

void AddOptions(CLI::App& app, Options& options) {
  app.add_option("--host", options.host, "Numeric address to listen on")->capture_default_str();
  app.add_option("--port", options.port, "TCP port, 0 to let the kernel choose")
      ->check(CLI::Range(0, 65535))
      ->capture_default_str();
  app.add_option(
         "--threads", options.threads,
         "How many /burn requests are worked on at once; further ones wait in the order they "
         "came. Not a limit on connections, nor on /healthz")
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
  app.add_option("--workers", options.workers,
                 "How many of them burn at once; takes the place of --threads when given")
      ->check(CLI::Range(1, 1024));
  app.add_option("--queue-depth", options.queue_depth,
                 "How many requests may wait for a worker; one more is answered 429 (default: any "
                 "number may wait)")
      ->check(CLI::Range(0, 1000000));
  app.add_option("--iters-per-ms", options.iters_per_ms,
                 "Iterations per millisecond; default: the environment variable ITERS_PER_MS, else "
                 "measured at start in about 50 ms of CPU time")
      ->check(CLI::Range(std::uint64_t{1}, kMaxItersPerMs));
}

EarlyExit UsageError(const std::string& reason) {
  std::string line = reason;
  std::replace(line.begin(), line.end(), '\n', ' ');
  return {2, fmt::format("burn_server: {} (see burn_server --help)\n", line)};
}

// The environment counts only when the option is absent.
std::optional<EarlyExit> ApplyEnvironment(Options& options, const char* text) {
  if (options.iters_per_ms) {
    options.iters_source = "--iters-per-ms";
    return std::nullopt;
  }
  if (text == nullptr) return std::nullopt;
  const auto value = throttletest::internal::ParseInteger<std::uint64_t>(text);
  if (!value || *value < 1 || *value > kMaxItersPerMs) {
    return UsageError(
        fmt::format("ITERS_PER_MS=\"{}\" in the environment is not a whole number in 1..{}", text,
                    kMaxItersPerMs));
  }
  options.iters_per_ms = value;
  options.iters_source = "ITERS_PER_MS";
  return std::nullopt;
}

}  // namespace

ParsedCommandLine ParseCommandLine(std::vector<std::string> arguments,
                                   const char* env_iters_per_ms) {
  ParsedCommandLine parsed;
  Options& options = parsed.options;
  CLI::App app(kDescription, "burn_server");
  AddOptions(app, options);
  auto* calibrate = app.add_subcommand("calibrate", kCalibrateDescription);
  calibrate->add_flag("--json", options.json, "Print JSON with the spread of the slices");
  // CLI11 takes the arguments from the back.
  std::reverse(arguments.begin(), arguments.end());
  try {
    app.parse(arguments);
  } catch (const CLI::CallForHelp&) {
    parsed.exit = EarlyExit{0, app.help()};
    return parsed;
  } catch (const CLI::ParseError& e) {
    parsed.exit = UsageError(e.what());
    return parsed;
  }
  if (calibrate->parsed()) {
    options.command = Command::kCalibrate;
    return parsed;
  }
  parsed.exit = ApplyEnvironment(options, env_iters_per_ms);
  return parsed;
}

}  // namespace burn_server
