#include "service/attach_container.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "base/text.h"
#include "service/engine_container.h"

namespace throttletest::internal {
namespace {

bool IsIpv4(const PublishedPort& port) { return port.host_address.find(':') == std::string::npos; }

// What the engine runs, for a message. Absent: empty, also when it does not say.
std::vector<std::string> RunningNames(const Engine& engine) {
  std::vector<std::string> names;
  std::istringstream lines(engine.Call({"ps", "--format", "{{.Names}}"}).out);
  for (std::string name; std::getline(lines, name);) names.push_back(name);
  return names;
}

EngineAnswer Ask(LauncherKind kind, const std::string& name) {
  EngineAnswer answer{.engine = kind};
  try {
    answer.state = FindContainer(OpenEngine(kind), name);
  } catch (const Error& error) {
    answer.lack = error.what();
    answer.lack_code = error.code();
  }
  return answer;
}

bool Runs(const EngineAnswer& answer) {
  return answer.state && answer.state->running && answer.state->pid > 0 &&
         answer.state->status != "paused";
}

// "docker runs a, b", "podman runs none", "podman: it does not answer".
std::string Describe(const EngineAnswer& answer) {
  const std::string engine = LauncherName(answer.engine);
  if (!answer.lack.empty()) return fmt::format("{}: {}", engine, answer.lack);
  if (answer.state) return fmt::format("{} has it, {}", engine, answer.state->status);
  if (answer.running.empty()) return engine + " runs none";
  constexpr std::size_t kMostNames = 20;
  std::string names;
  for (std::size_t i = 0; i < std::min(answer.running.size(), kMostNames); ++i) {
    AppendItem(names, answer.running[i], ", ");
  }
  if (answer.running.size() > kMostNames) names += ", and others";
  return fmt::format("{} runs {}", engine, names);
}

[[noreturn]] void ThrowNotFound(const std::string& name, const std::vector<EngineAnswer>& answers) {
  std::string all;
  for (const EngineAnswer& answer : answers) AppendItem(all, Describe(answer), "; ");
  const bool none_asked = std::all_of(answers.begin(), answers.end(),
                                      [](const EngineAnswer& a) { return !a.lack.empty(); });
  if (none_asked) {
    throw Error(answers.front().lack_code, all + "; a process or cgroup path needs no engine");
  }
  throw Error(ErrorCode::kNotReady, fmt::format("no container \"{}\" runs: {}", name, all));
}

}  // namespace

const EngineAnswer& ChooseAnswer(const std::string& name,
                                 const std::vector<EngineAnswer>& answers) {
  const auto found = std::find_if(answers.begin(), answers.end(), Runs);
  if (found == answers.end()) ThrowNotFound(name, answers);
  if (std::find_if(found + 1, answers.end(), Runs) != answers.end()) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("both docker and podman run a container \"{}\": say which engine is "
                            "meant",
                            name));
  }
  return *found;
}

FoundContainer FindRunningContainer(const std::string& name, LauncherKind kind) {
  std::vector<EngineAnswer> answers;
  for (const LauncherKind engine : {LauncherKind::kDocker, LauncherKind::kPodman}) {
    if (kind == LauncherKind::kAuto || kind == engine) answers.push_back(Ask(engine, name));
  }
  // Only for the message; asking takes time.
  if (std::none_of(answers.begin(), answers.end(), Runs)) {
    for (EngineAnswer& answer : answers) {
      const bool knows_none = answer.lack.empty() && !answer.state;
      if (knows_none) answer.running = RunningNames(OpenEngine(answer.engine));
    }
  }
  const EngineAnswer& answer = ChooseAnswer(name, answers);
  return {OpenEngine(answer.engine), *answer.state};
}

bool PublishesAt(const ContainerState& state, std::uint16_t port) {
  return std::any_of(state.ports.begin(), state.ports.end(),
                     [port](const PublishedPort& p) { return p.host_port == port && IsIpv4(p); });
}

std::string PublishedPorts(const ContainerState& state) {
  std::string all;
  for (const PublishedPort& port : state.ports) {
    if (!IsIpv4(port)) continue;
    AppendItem(all, fmt::format("{} at {}", port.container_port, port.host_port), ", ");
  }
  return all;
}

}  // namespace throttletest::internal
