#include "service/spec_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <string_view>

#include "service/program.h"
#include "throttletest/base/duration.h"
#include "throttletest/base/error.h"

namespace throttletest::internal {
namespace {

constexpr std::string_view kPort = "{port}";

[[noreturn]] void Refuse(const std::string& message) {
  throw Error(ErrorCode::kInvalidArgument, message);
}

void CheckText(std::string_view what, const std::string& text) {
  if (text.find('\0') != std::string::npos) {
    Refuse(fmt::format("{} \"{}\" holds a zero byte, which no program can be given", what,
                       text.substr(0, text.find('\0'))));
  }
}

void CheckEnv(const std::map<std::string, std::string>& env) {
  for (const auto& [name, value] : env) {
    if (name.empty() || name.find('=') != std::string::npos) {
      Refuse(
          fmt::format("environment variable \"{}\": a name must not be empty or hold '='", name));
    }
    CheckText("environment variable", name);
    // The value may be a secret and is not quoted.
    if (value.find('\0') != std::string::npos) {
      Refuse(fmt::format("the value of environment variable \"{}\" holds a zero byte", name));
    }
  }
}

void CheckFiles(const ServiceSpec& spec) {
  if (!spec.files.empty() && !spec.image.empty()) {
    Refuse(
        fmt::format("file \"{}\" cannot be added to image \"{}\": an image has what it has, so "
                    "leave one of them out",
                    spec.files.front(), spec.image));
  }
  for (const std::string& file : spec.files) {
    CheckText("file", file);
    std::error_code ec;
    if (file.empty() || file.front() != '/') {
      Refuse(
          fmt::format("file \"{}\" is not an absolute path: it is put under the same path into "
                      "the image",
                      file));
    }
    if (!std::filesystem::exists(file, ec)) {
      Refuse(fmt::format("file \"{}\" is not there: {}", file,
                         ec ? ec.message() : "no such file or folder"));
    }
  }
}

void CheckForCgroup(const ServiceSpec& spec) {
  if (!spec.image.empty()) {
    Refuse(
        fmt::format("image \"{}\" needs a container engine: use the docker or podman launcher, "
                    "or leave the image out for the cgroup launcher",
                    spec.image));
  }
  if (spec.container_port) {
    Refuse(
        fmt::format("container_port {} needs a container engine: the cgroup launcher has no "
                    "container network; write {{port}} in the command instead",
                    *spec.container_port));
  }
}

bool HoldsPort(const std::string& text) { return text.find(kPort) != std::string::npos; }

bool HoldsPort(const std::map<std::string, std::string>& env) {
  return std::any_of(env.begin(), env.end(), [](const auto& e) { return HoldsPort(e.second); });
}

}  // namespace

void CheckSpec(const ServiceSpec& spec, LauncherKind kind) {
  if (kind == LauncherKind::kAttached) {
    Refuse("launcher \"attached\" starts nothing: use AttachService() for a service that runs");
  }
  if (spec.command.empty() && spec.image.empty()) {
    Refuse("the service has no command: write the program and its arguments");
  }
  if (!spec.command.empty() && spec.command[0].empty()) {
    Refuse("the service's command starts with an empty word: write the program there");
  }
  for (const std::string& word : spec.command) CheckText("the command's argument", word);
  CheckText("image", spec.image);
  CheckFiles(spec);
  CheckEnv(spec.env);
  CheckEnv(spec.secret_env);
  if (spec.container_port && *spec.container_port == 0) {
    Refuse("container_port 0 is not a port: write the port the program listens on, 1 to 65535");
  }
  if (spec.stop_grace < std::chrono::nanoseconds(0)) {
    Refuse(fmt::format("stop_grace {} is negative: write 0 s or more", ToString(spec.stop_grace)));
  }
  if (kind == LauncherKind::kCgroup) CheckForCgroup(spec);
  if (spec.image.empty()) RequireProgram(spec.command[0]);
}

std::string FillPort(const std::string& text, std::uint16_t port) {
  std::string out;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t at = text.find(kPort, begin);
    out.append(text, begin, at == std::string::npos ? at : at - begin);
    if (at == std::string::npos) break;
    out += std::to_string(port);
    begin = at + kPort.size();
  }
  return out;
}

bool UsesPort(const ServiceSpec& spec) {
  return spec.container_port ||
         std::any_of(spec.command.begin(), spec.command.end(),
                     [](const std::string& word) { return HoldsPort(word); }) ||
         HoldsPort(spec.env) || HoldsPort(spec.secret_env);
}

LaunchRequest MakeRequest(const ServiceSpec& spec, std::uint16_t port,
                          const ResolvedLimits& limits) {
  LaunchRequest request{.command = spec.command,
                        .env = spec.env,
                        .secret_env = spec.secret_env,
                        .image = spec.image,
                        .files = spec.files,
                        .port = port,
                        .container_port = spec.container_port.value_or(0),
                        .limits = limits};
  for (std::string& word : request.command) word = FillPort(word, port);
  for (auto& [name, value] : request.env) value = FillPort(value, port);
  for (auto& [name, value] : request.secret_env) value = FillPort(value, port);
  return request;
}

}  // namespace throttletest::internal
