#include "service/engine_inspect.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/number.h"
#include "throttletest/base/error.h"

namespace throttletest::internal {
namespace {

using Json = nlohmann::json;

Json Parse(const std::string& text, const char* what) {
  Json json = Json::parse(text, nullptr, false);
  if (json.is_discarded()) {
    throw Error(ErrorCode::kParse,
                fmt::format("{} is not JSON: \"{}\"", what, text.substr(0, 200)));
  }
  return json;
}

// The value at a path of keys. Absent: a key is missing or the value has another type.
template <typename T>
std::optional<T> Get(const Json& json, std::initializer_list<const char*> keys) {
  const Json* at = &json;
  for (const char* key : keys) {
    if (!at->is_object()) return std::nullopt;
    const auto found = at->find(key);
    if (found == at->end()) return std::nullopt;
    at = &*found;
  }
  if constexpr (std::is_same_v<T, std::string>) {
    if (!at->is_string()) return std::nullopt;
  } else if constexpr (std::is_same_v<T, bool>) {
    if (!at->is_boolean()) return std::nullopt;
  } else {
    if (!at->is_number()) return std::nullopt;
  }
  return at->get<T>();
}

std::string Text(const Json& json, std::initializer_list<const char*> keys) {
  return Get<std::string>(json, keys).value_or("");
}

// "1", "2", "v1", "v2".
int CgroupVersionOf(std::string_view text) {
  if (!text.empty() && text.front() == 'v') text.remove_prefix(1);
  return ParseInteger<int>(text).value_or(0);
}

std::optional<double> CpusOf(const Json& container) {
  const double nano = Get<double>(container, {"HostConfig", "NanoCpus"}).value_or(0);
  if (nano > 0) return nano / 1e9;
  const double quota = Get<double>(container, {"HostConfig", "CpuQuota"}).value_or(0);
  if (quota <= 0) return std::nullopt;
  const double period = Get<double>(container, {"HostConfig", "CpuPeriod"}).value_or(0);
  return quota / (period > 0 ? period : 100000);
}

// "Ports": {"8080/tcp": [{"HostIp": "0.0.0.0", "HostPort": "32768"}, ...], "9090/tcp": null}
std::vector<PublishedPort> PortsOf(const Json& container) {
  std::vector<PublishedPort> ports;
  const Json::json_pointer where("/NetworkSettings/Ports");
  if (!container.contains(where) || !container.at(where).is_object()) return ports;
  for (const auto& [key, bindings] : container.at(where).items()) {
    const auto number = ParseInteger<std::uint16_t>(key.substr(0, key.find('/')));
    if (!number || !bindings.is_array()) continue;
    for (const Json& binding : bindings) {
      const auto host = ParseInteger<std::uint16_t>(Text(binding, {"HostPort"}));
      if (host) ports.push_back({*number, Text(binding, {"HostIp"}), *host});
    }
  }
  return ports;
}

}  // namespace

EngineInfo ParseDockerInfo(const std::string& text) {
  const Json json = Parse(text, "the answer of docker info");
  EngineInfo info;
  info.version = Text(json, {"ServerVersion"});
  info.cgroup_driver = Text(json, {"CgroupDriver"});
  info.cgroup_version = CgroupVersionOf(Text(json, {"CgroupVersion"}));
  info.operating_system = Text(json, {"OperatingSystem"});
  // Docker 20.10 exits with 0 although its daemon did not answer.
  if (const auto errors = json.find("ServerErrors");
      errors != json.end() && errors->is_array() && !errors->empty() && (*errors)[0].is_string()) {
    info.refusal = (*errors)[0].get<std::string>();
  } else if (info.version.empty()) {
    info.refusal = "docker info names no version of its daemon";
  }
  if (const auto options = json.find("SecurityOptions");
      options != json.end() && options->is_array()) {
    for (const Json& option : *options) {
      const std::string name = option.is_string() ? option.get<std::string>() : "";
      if (name.find("name=rootless") != std::string::npos) info.rootless = true;
    }
  }
  return info;
}

EngineInfo ParsePodmanInfo(const std::string& text) {
  const Json json = Parse(text, "the answer of podman info");
  EngineInfo info;
  info.version = Text(json, {"version", "Version"});
  info.cgroup_driver = Text(json, {"host", "cgroupManager"});
  info.cgroup_version = CgroupVersionOf(Text(json, {"host", "cgroupVersion"}));
  info.operating_system = Text(json, {"host", "distribution", "distribution"});
  info.runtime = Text(json, {"host", "ociRuntime", "name"});
  info.rootless = Get<bool>(json, {"host", "security", "rootless"}).value_or(false);
  info.remote = Get<bool>(json, {"host", "serviceIsRemote"}).value_or(false);
  const Json::json_pointer where("/host/cgroupControllers");
  if (json.contains(where) && json.at(where).is_array()) {
    for (const Json& name : json.at(where)) {
      if (name.is_string()) info.controllers.push_back(name.get<std::string>());
    }
  }
  return info;
}

ContainerState ParseInspect(const std::string& text) {
  const Json json = Parse(text, "the answer of inspect");
  if (!json.is_array() || json.size() != 1 || !json[0].is_object()) {
    throw Error(ErrorCode::kParse, fmt::format("inspect does not describe one container: \"{}\"",
                                               text.substr(0, 200)));
  }
  const Json& container = json[0];
  ContainerState state;
  state.id = Text(container, {"Id"});
  state.status = Text(container, {"State", "Status"});
  const auto running = Get<bool>(container, {"State", "Running"});
  if (state.id.empty() || !running) {
    throw Error(ErrorCode::kParse, "inspect says neither Id nor State.Running");
  }
  state.running = *running;
  state.pid = Get<pid_t>(container, {"State", "Pid"}).value_or(0);
  const bool ended =
      state.status == "exited" || state.status == "dead" || state.status == "stopped";
  if (ended) state.exit_code = Get<int>(container, {"State", "ExitCode"});
  state.oom_killed = Get<bool>(container, {"State", "OOMKilled"});
  state.error = Text(container, {"State", "Error"});
  state.cpus = CpusOf(container);
  state.ports = PortsOf(container);
  return state;
}

std::optional<std::uint16_t> ContainerState::HostPort(std::uint16_t container_port) const {
  for (const PublishedPort& port : ports) {
    const bool ipv4 = port.host_address.find(':') == std::string::npos;
    if (port.container_port == container_port && ipv4) return port.host_port;
  }
  return std::nullopt;
}

}  // namespace throttletest::internal
