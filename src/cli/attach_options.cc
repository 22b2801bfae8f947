#include "cli/attach_options.h"

#include <fmt/format.h>

#include "base/number.h"
#include "cli/option_values.h"

namespace throttletest::cli {
namespace {

// How long a Unix socket may take to be connected to.
constexpr auto kUnixAnswersWithin = std::chrono::seconds(5);

AttachTarget ReadPid(const std::string& text) {
  const auto pid = internal::ParseInteger<pid_t>(text);
  if (!pid) RefuseOption(fmt::format("--pid \"{}\" is not the number of a process", text));
  return Named("--pid", text, [&](const std::string&) { return RunningProcess(*pid); });
}

AttachTarget ReadContainer(const AttachText& text) {
  const bool known = text.engine.empty() || text.engine == "docker" || text.engine == "podman";
  if (!known)
    RefuseOption(fmt::format("--engine \"{}\" is neither docker nor podman", text.engine));
  const LauncherKind engine =
      text.engine.empty() ? LauncherKind::kAuto : ParseLauncher(text.engine);
  return Named("--container", text.container,
               [&](const std::string& name) { return RunningContainer(name, engine); });
}

AttachTarget ReadTarget(const AttachText& text) {
  const int targets =
      (text.pid.empty() ? 0 : 1) + (text.container.empty() ? 0 : 1) + (text.cgroup.empty() ? 0 : 1);
  if (targets != 1) {
    RefuseOption(fmt::format("{}: give one of --pid, --container and --cgroup",
                             targets == 0 ? "nothing to attach to" : "more than one target"));
  }
  if (!text.engine.empty() && text.container.empty())
    RefuseOption("--engine goes with --container");
  if (!text.pid.empty()) return ReadPid(text.pid);
  if (!text.container.empty()) return ReadContainer(text);
  return Named("--cgroup", text.cgroup, RunningCgroup);
}

std::uint16_t ReadPort(const AttachText& text) {
  const bool unix_socket = !text.load.unix_path.empty();
  if (unix_socket && !text.port.empty()) RefuseOption("give --port or --unix, not both");
  if (unix_socket) return 0;
  if (text.port.empty()) {
    RefuseOption("where does the service listen: give --port PORT, or --unix PATH");
  }
  const auto port = internal::ParseInteger<std::uint16_t>(text.port);
  if (!port || *port == 0) {
    RefuseOption(fmt::format("--port \"{}\" is not a port: write 1 to 65535", text.port));
  }
  return *port;
}

AttachSpec ReadSpec(const AttachText& text) {
  if (!text.command.empty()) {
    RefuseOption("attach starts nothing: leave out -- and what follows, or use throttletest run");
  }
  AttachSpec spec{.target = ReadTarget(text), .port = ReadPort(text)};
  if (!text.load.unix_path.empty()) {
    spec.ready = Named("--unix", text.load.unix_path, UnixReady).Within(kUnixAnswersWithin);
  }
  return spec;
}

}  // namespace

void DeclareAttachOptions(CLI::App& app, AttachText& text) {
  const auto option = [&app](const char* name, std::string& value, const char* help) {
    app.add_option(name, value, help)->group("Service");
  };
  option("--pid", text.pid, "The service is this process");
  option("--container", text.container, "It is the container with this name or id");
  option("--engine", text.engine, "docker or podman (whichever runs the container)");
  option("--cgroup", text.cgroup, "It is what is in the cgroup with this directory");
  option("--port", text.port, "Port on which it listens at 127.0.0.1");
  DeclareLoadOptions(app, text.load);
  DeclareVerdictOptions(app, text.verdict);
  CheckValues(app);
}

AttachSettings Understand(const AttachText& text) {
  AttachSpec spec = ReadSpec(text);
  return {std::move(spec), ReadMeasurement(text.load, text.verdict)};
}

}  // namespace throttletest::cli
