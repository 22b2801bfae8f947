#include "service/engine_command.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>

#include "base/text.h"
#include "service/owner.h"
#include "throttletest/base/error.h"

namespace throttletest::internal {
namespace {

using Arguments = std::vector<std::string>;

void Append(Arguments& to, std::initializer_list<std::string> more) {
  to.insert(to.end(), more.begin(), more.end());
}

void CheckImageName(const std::string& image) {
  const bool blank =
      std::any_of(image.begin(), image.end(), [](unsigned char c) { return std::isgraph(c) == 0; });
  if (image.empty() || image.front() == '-' || blank) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("image \"{}\" is not an image name like \"debian:12\"", image));
  }
}

void CheckVariable(const std::string& name) {
  const bool plain = std::all_of(name.begin(), name.end(),
                                 [](unsigned char c) { return std::isgraph(c) != 0 && c != '='; });
  if (name.empty() || !plain) {
    throw Error(
        ErrorCode::kInvalidArgument,
        fmt::format("environment variable \"{}\" has a name that cannot be passed on", name));
  }
}

// Variables that would steer the engine's own command instead of reaching the service alone.
bool SteersTheCommand(std::string_view name) {
  constexpr std::array<std::string_view, 7> kExact = {
      "PATH", "HOME", "TMPDIR", "GODEBUG", "GOTRACEBACK", "GOMAXPROCS", "GOMEMLIMIT"};
  constexpr std::array<std::string_view, 7> kPrefixes = {
      "DOCKER_", "CONTAINER_", "CONTAINERS_", "PODMAN_", "STORAGE_", "XDG_", "LD_"};
  return std::find(kExact.begin(), kExact.end(), name) != kExact.end() ||
         std::any_of(kPrefixes.begin(), kPrefixes.end(),
                     [&](std::string_view prefix) { return name.rfind(prefix, 0) == 0; });
}

void AddLimits(const ResolvedLimits& limits, Arguments& to) {
  if (limits.cpu.quota || limits.cpu.period != CpuBandwidth{}.period) {
    Append(to, {"--cpu-period", fmt::format("{}", limits.cpu.period.count())});
  }
  if (limits.cpu.quota) Append(to, {"--cpu-quota", fmt::format("{}", limits.cpu.quota->count())});
  if (limits.cpuset) Append(to, {"--cpuset-cpus", limits.cpuset->ToString()});
  if (!limits.memory || limits.memory->unlimited()) return;
  const auto swap = limits.memory_and_swap.value_or(ByteSize::Unlimited());
  Append(to, {"--memory", fmt::format("{}", limits.memory->bytes()), "--memory-swap",
              fmt::format("{}", swap.unlimited() ? -1 : swap.bytes())});
}

void AddEnvironment(const LaunchRequest& request, const std::string& engine, EngineCall& call) {
  for (const auto& [name, value] : request.env) {
    CheckVariable(name);
    Append(call.arguments, {"--env", fmt::format("{}={}", name, value)});
  }
  for (const auto& [name, value] : request.secret_env) {
    CheckVariable(name);
    if (SteersTheCommand(name)) {
      throw Error(ErrorCode::kInvalidArgument,
                  fmt::format("secret variable {} would change what the command {} itself does; "
                              "give the secret another name",
                              name, engine));
    }
    Append(call.arguments, {"--env", name});
    call.env[name] = value;
  }
}

}  // namespace

std::string OwnLabel() { return fmt::format("{}={}", kOwnerLabel, Owner::Self().ToString()); }

std::string UserLabel() { return fmt::format("throttletest.user={}", ::geteuid()); }

EngineCall RunCall(const Engine& engine, const LaunchRequest& request, const std::string& name,
                   const std::string& image, bool own_image) {
  CheckImageName(image);
  EngineCall call;
  Arguments& to = call.arguments;
  if (request.job == nullptr) Append(to, {"run", "--detach"});
  if (request.job != nullptr) Append(to, {"create"});
  Append(to, {"--name", name, "--pull=never", "--restart", "no"});
  Append(to, {"--label", OwnLabel(), "--label", UserLabel()});
  to.insert(to.end(), engine.run_options.begin(), engine.run_options.end());
  if (request.container_port == 0) {
    Append(to, {"--network", "host"});
  } else {
    Append(to, {"--publish", fmt::format("127.0.0.1:{}:{}", request.port, request.container_port)});
  }
  AddLimits(request.limits, to);
  AddEnvironment(request, engine.name(), call);
  if (own_image) Append(to, {"--workdir", "/"});
  to.push_back(image);
  to.insert(to.end(), request.command.begin(), request.command.end());
  return call;
}

std::vector<std::string> UpdateCall(const ResolvedLimits& limits, const std::string& name) {
  Arguments to = {"update", "--cpu-period", fmt::format("{}", limits.cpu.period.count()),
                  "--cpu-quota",
                  fmt::format("{}", limits.cpu.quota ? limits.cpu.quota->count() : -1)};
  ResolvedLimits rest = limits;
  rest.cpu = {};
  AddLimits(rest, to);
  to.push_back(name);
  return to;
}

std::vector<std::string> ImportCall(LauncherKind engine, const std::string& image) {
  // Told to read "-", podman first makes a copy, which it leaves behind when it is killed.
  const char* source = engine == LauncherKind::kPodman ? "/dev/stdin" : "-";
  return {"import", "--change", "LABEL " + OwnLabel(), "--change", "LABEL " + UserLabel(),
          source,   image};
}

bool SaysGone(const CommandResult& answer) {
  const std::string text = Lower(answer.err + answer.out);
  for (const char* words : {"no such container", "no container with name", "no such image",
                            "image not known", "not known in"}) {
    if (text.find(words) != std::string::npos) return true;
  }
  return false;
}

}  // namespace throttletest::internal
