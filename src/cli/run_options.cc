#include "cli/run_options.h"

#include <fmt/format.h>

#include "cli/option_values.h"
#include "throttletest/base/error.h"

namespace throttletest::cli {
namespace {

std::optional<std::chrono::microseconds> Microseconds(const char* option, const std::string& text) {
  if (text.empty()) return std::nullopt;
  const auto ns = DurationOption(option, text);
  const auto us = std::chrono::duration_cast<std::chrono::microseconds>(ns);
  if (us != ns)
    RefuseOption(fmt::format("{} {}: the kernel takes whole microseconds", option, text));
  return us;
}

Readiness ReadReadiness(const RunText& text) {
  if (!text.ready_http.empty() && !text.ready_log.empty()) {
    RefuseOption("give --ready-http or --ready-log, not both");
  }
  if (!text.load.unix_path.empty() && !(text.ready_http.empty() && text.ready_log.empty())) {
    RefuseOption("--ready-http and --ready-log look at a port: leave them out with --unix");
  }
  if (text.load.tls && !text.ready_http.empty()) {
    RefuseOption("--ready-http speaks plain HTTP: leave it out with --tls, or use --ready-log");
  }
  Readiness ready = !text.load.unix_path.empty() ? Named("--unix", text.load.unix_path, UnixReady)
                    : !text.ready_http.empty()   ? HttpReady(text.ready_http)
                    : !text.ready_log.empty()    ? LogLineReady(text.ready_log)
                                                 : TcpReady();
  return ready.Within(DurationOption("--ready-timeout", text.ready_timeout));
}

ServiceSpec ReadSpec(const RunText& text) {
  if (text.command.empty() && text.image.empty()) {
    RefuseOption(
        "nothing to run: put the service's command after --, as in: -- burn_server --port={port}");
  }
  ServiceSpec spec{.command = text.command,
                   .limits = ReadLimits(text),
                   .ready = ReadReadiness(text),
                   .image = text.image};
  spec.launcher = ParseLauncher(text.launcher);
  spec.container_port = text.container_port;
  spec.start_unlimited = text.start_unlimited;
  spec.env = ReadEnv(text);
  return spec;
}

}  // namespace

Limits ReadLimits(const RunText& text) {
  Limits limits;
  if (!text.cpus.empty()) limits.cpus = NumberOption("--cpus", text.cpus);
  limits.quota = Microseconds("--quota", text.quota);
  limits.period = Microseconds("--period", text.period);
  limits.burst = Microseconds("--burst", text.burst);
  limits.cpuset = text.cpuset;
  if (!text.memory.empty()) limits.memory = Named("--memory", text.memory, ParseByteSize);
  if (!text.memory_swap.empty()) {
    limits.memory_swap = Named("--memory-swap", text.memory_swap, ParseByteSize);
  }
  return limits;
}

std::map<std::string, std::string> ReadEnv(const RunText& text) {
  std::map<std::string, std::string> env;
  for (const std::string& pair : text.env) {
    const std::size_t equals = pair.find('=');
    if (equals == std::string::npos || equals == 0) {
      RefuseOption(fmt::format("--env \"{}\" is not NAME=VALUE", pair));
    }
    env[pair.substr(0, equals)] = pair.substr(equals + 1);
  }
  return env;
}

void DeclareLauncherOptions(CLI::App& app, RunText& text) {
  app.add_option("--launcher", text.launcher, "auto, cgroup, docker or podman")->group("Service");
  app.add_option("--image", text.image,
                 "Container image (docker, podman); else one is built from the command")
      ->group("Service");
  app.add_option("--env", text.env, "NAME=VALUE for the service; may be repeated")
      ->group("Service");
}

void DeclareLimitOptions(CLI::App& app, RunText& text) {
  app.add_option("--cpus", text.cpus, "CPU limit in CPUs, such as 0.5")->group("Limits");
  app.add_option("--quota", text.quota, "CPU time per period, such as 50ms")->group("Limits");
  app.add_option("--period", text.period, "Enforcement period, 1ms to 1s (100ms)")->group("Limits");
  app.add_option("--burst", text.burst, "CPU time that may be saved up, up to the quota")
      ->group("Limits");
  app.add_option("--cpuset", text.cpuset, "CPUs it may run on, such as 0-1,3")->group("Limits");
  app.add_option("--memory", text.memory, "Memory limit, such as 256m")->group("Limits");
  app.add_option("--memory-swap", text.memory_swap, "Memory plus swap, -1 for unlimited swap")
      ->group("Limits");
}

void DeclareRunOptions(CLI::App& app, RunText& text) {
  DeclareLauncherOptions(app, text);
  app.add_option("--container-port", text.container_port,
                 "Port the service listens on inside its image")
      ->group("Service");
  app.add_flag("--start-unlimited", text.start_unlimited, "Boot without limits, clamp once ready")
      ->group("Service");
  app.add_option("--ready-http", text.ready_http, "Ready when GET of this target answers 200")
      ->group("Service");
  app.add_option("--ready-log", text.ready_log, "Ready when a log line has this text")
      ->group("Service");
  app.add_option("--ready-timeout", text.ready_timeout, "How long it may take to be ready")
      ->group("Service")
      ->capture_default_str();

  DeclareLimitOptions(app, text);
  DeclareLoadOptions(app, text.load);

  DeclareVerdictOptions(app, text.verdict);
  CheckValues(app);
}

RunSettings Understand(const RunText& text) {
  RunSettings settings;
  settings.spec = ReadSpec(text);
  settings.measure = ReadMeasurement(text.load, text.verdict);
  return settings;
}

}  // namespace throttletest::cli
