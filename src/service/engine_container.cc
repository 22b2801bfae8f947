#include "service/engine_container.h"

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>
#include <utility>

#include "base/text.h"
#include "service/engine_command.h"
#include "service/image_build.h"
#include "service/owner.h"
#include "service/program.h"
#include "throttletest/base/error.h"

namespace throttletest::internal {
namespace {

using std::chrono::seconds;

constexpr auto kQuickCall = seconds(20);
constexpr auto kSlowCall = seconds(120);  // import, run, rm: disk work
constexpr auto kPull = seconds(900);
constexpr std::size_t kLogBytes = std::size_t{64} << 10;
// Podman's monitor lives on where it was started, and leaves a file "oom" there when the container
// runs out of memory.
constexpr const char* kNothingCanBeMade = "/proc";

// Source: /proc/vmstat, key oom_kill.
std::optional<std::int64_t> ReadSystemOomKills() {
  std::ifstream file("/proc/vmstat");
  std::string key;
  for (std::int64_t value = 0; file >> key >> value;) {
    if (key == "oom_kill") return value;
  }
  return std::nullopt;
}

[[noreturn]] void FailStart(const CommandResult& result) {
  throw Error(ErrorCode::kServiceStart, result.Describe());
}

CommandResult AskInspect(const Engine& engine, const std::string& name) {
  return engine.Call({"inspect", "--type", "container", name}, {.deadline = kQuickCall});
}

}  // namespace

std::optional<ContainerState> FindContainer(const Engine& engine, const std::string& name) {
  const CommandResult result = AskInspect(engine, name);
  if (result.ok()) return ParseInspect(result.out);
  if (SaysGone(result)) return std::nullopt;
  FailStart(result);
}

std::string ContainerLogs(const Engine& engine, const std::string& name) {
  try {
    CommandResult result =
        engine.Call({"logs", "--tail", "2000", name},
                    {.deadline = kQuickCall, .merge_streams = true, .keep = kLogBytes});
    return result.ok() ? std::move(result.out) : fmt::format("(no logs: {})\n", result.Describe());
  } catch (const Error& e) {
    return fmt::format("(no logs: {})\n", e.what());
  }
}

EngineContainer::EngineContainer(Engine engine) : engine_(std::move(engine)), name_(UniqueName()) {
  ticket_ = Watcher::Guard({.cgroup_dirs = {},
                            .commands = {engine_.Argv({"kill", "--signal", "KILL", name_}),
                                         engine_.Argv({"rm", "--force", "--volumes", name_}),
                                         engine_.Argv({"rmi", "--force", name_})}});
}

EngineContainer::~EngineContainer() { Remove(); }

void EngineContainer::MakeImage(const LaunchRequest& request, const std::string& program) {
  auto env = request.env;
  const UniqueFd archive = BuildProgramArchive(program, env, request.files);
  made_image_ = true;
  const CommandResult result = engine_.Call(ImportCall(engine_.kind, name_),
                                            {.deadline = kSlowCall, .stdin_fd = archive.get()});
  if (!result.ok()) FailStart(result);
}

void EngineContainer::RequireImage(const std::string& image) const {
  const std::vector<std::string> look = {"image", "inspect", "--format", "{{.Id}}", image};
  if (engine_.Call(look, {.deadline = kQuickCall}).ok()) return;
  const CommandResult pulled = engine_.Call({"pull", "--quiet", image}, {.deadline = kPull});
  if (!pulled.ok()) {
    throw Error(ErrorCode::kServiceStart,
                fmt::format("image \"{}\" is not on this machine and could not be pulled: {}",
                            image, pulled.Describe()));
  }
}

void EngineContainer::Start(const LaunchRequest& request) {
  LaunchRequest inside = request;
  const bool own_image = request.image.empty();
  if (own_image) {
    if (request.command.empty()) {
      throw Error(ErrorCode::kInvalidArgument, "neither a command nor an image is given");
    }
    inside.command[0] =
        std::filesystem::absolute(RequireProgram(request.command[0])).lexically_normal().string();
    // The libraries that the host's loader finds through it must be found in the container too.
    const char* library_path = std::getenv("LD_LIBRARY_PATH");
    if (library_path != nullptr && *library_path != '\0') {
      inside.env.emplace("LD_LIBRARY_PATH", library_path);
    }
  }
  const EngineCall call =
      RunCall(engine_, inside, name_, own_image ? name_ : request.image, own_image);
  if (own_image) {
    MakeImage(inside, inside.command[0]);
  } else {
    RequireImage(request.image);
  }
  oom_kills_before_ = ReadSystemOomKills();
  started_ = true;
  const CommandResult result = engine_.Call(
      call.arguments, {.deadline = kSlowCall, .env = call.env, .directory = kNothingCanBeMade});
  if (!result.ok()) FailStart(result);
}

void EngineContainer::Run() const {
  const CommandResult result =
      engine_.Call({"start", name_}, {.deadline = kSlowCall, .directory = kNothingCanBeMade});
  if (!result.ok()) FailStart(result);
}

ContainerState EngineContainer::Inspect() const {
  const CommandResult result = AskInspect(engine_, name_);
  if (!result.ok()) FailStart(result);
  return ParseInspect(result.out);
}

std::optional<ContainerState> EngineContainer::InspectEnded(std::chrono::nanoseconds within) const {
  const auto give_up = std::chrono::steady_clock::now() + within;
  while (true) {
    try {
      ContainerState state = Inspect();
      ended_ = !state.running && state.exit_code.has_value();
      if (ended_) return state;
    } catch (const Error&) {
      return std::nullopt;
    }
    if (std::chrono::steady_clock::now() >= give_up) return std::nullopt;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
}

std::string EngineContainer::Logs() const { return ContainerLogs(engine_, name_); }

void EngineContainer::Signal(const char* name) const {
  try {
    engine_.Call({"kill", "--signal", name, name_}, {.deadline = kQuickCall});
  } catch (const Error&) {
    // Removal, which follows, kills as well and reports what is left.
  }
}

CommandResult EngineContainer::Update(const ResolvedLimits& limits) const {
  return engine_.Call(UpdateCall(limits, name_), {.deadline = kQuickCall});
}

std::optional<std::int64_t> EngineContainer::SystemOomKills() const {
  const auto now = ReadSystemOomKills();
  if (!now || !oom_kills_before_) return std::nullopt;
  return *now - *oom_kills_before_;
}

std::string EngineContainer::Remove() {
  if (removed_) return "";
  // Removing a running container would first wait for the engine's own grace time.
  if (started_ && !ended_) Signal("KILL");
  std::string left;
  const auto remove = [&](const std::vector<std::string>& call) {
    try {
      const CommandResult result = engine_.Call(call, {.deadline = kSlowCall});
      if (!result.ok() && !SaysGone(result)) left += result.Describe() + "\n";
    } catch (const std::exception& e) {
      left += std::string(e.what()) + "\n";
    }
  };
  if (started_) remove({"rm", "--force", "--volumes", name_});
  if (made_image_) remove({"rmi", "--force", name_});
  removed_ = true;
  // What is left stays with the watcher, which tries again when this process ends.
  if (left.empty()) ticket_.Release();
  return left;
}

}  // namespace throttletest::internal
