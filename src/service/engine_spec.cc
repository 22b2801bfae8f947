#include "service/engine_spec.h"

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>

#include "base/text.h"
#include "service/program.h"
#include "throttletest/base/error.h"
#include "throttletest/cgroup/location.h"

namespace throttletest::internal {
namespace {

// The first call of a rootless user sets up a good deal.
constexpr auto kAnswerWithin = std::chrono::seconds(30);
constexpr const char* kAllowRemote = "THROTTLETEST_ALLOW_REMOTE_ENGINE";

std::string Environment(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

long long HardLimit(__rlimit_resource resource) {
  struct rlimit limit {};
  if (::getrlimit(resource, &limit) != 0 || limit.rlim_max == RLIM_INFINITY) return -1;
  return static_cast<long long>(limit.rlim_max);
}

// podman lowers its own limit of processes to this number first. Absent: -1.
long long PidMax() {
  std::ifstream file("/proc/sys/kernel/pid_max");
  long long value = -1;
  return file >> value ? value : -1;
}

// The smaller of two limits of which -1 is the largest.
long long SmallerLimit(long long a, long long b) {
  if (a < 0 || b < 0) return std::max(a, b);
  return std::min(a, b);
}

// Source: /proc/self/status, CapEff; bit 24 is CAP_SYS_RESOURCE.
bool HasSysResource() {
  std::ifstream status("/proc/self/status");
  std::string line;
  while (std::getline(status, line)) {
    if (line.rfind("CapEff:", 0) != 0) continue;
    const auto mask = std::strtoull(line.c_str() + 7, nullptr, 16);
    return (mask >> 24 & 1) != 0;
  }
  return true;
}

std::string FindRunc() {
  for (const char* name : {"runc", "/usr/bin/runc", "/usr/sbin/runc", "/usr/local/sbin/runc"}) {
    if (const auto path = FindProgram(name)) return *path;
  }
  return "";
}

void RequireCommand(LauncherKind kind) {
  const std::string name = LauncherName(kind);
  if (!FindProgram(name)) {
    throw Error(ErrorCode::kNoContainerRuntime,
                fmt::format("the command {} is not in PATH; install {} or use the cgroup launcher",
                            name, name));
  }
}

[[noreturn]] void ThrowUnanswered(const std::string& name, const std::string& said) {
  if (Lower(said).find("permission denied") != std::string::npos) {
    throw Error(ErrorCode::kPermission,
                fmt::format("this user may not use {}: {}; run as root, or add the user to the "
                            "group that owns the engine's socket",
                            name, said));
  }
  throw Error(ErrorCode::kNoContainerRuntime,
              fmt::format("{} does not answer: {}; start its daemon, or use the cgroup launcher",
                          name, said));
}

CommandResult AskInfo(LauncherKind kind, const std::vector<std::string>& global_options) {
  std::vector<std::string> argv = {LauncherName(kind)};
  argv.insert(argv.end(), global_options.begin(), global_options.end());
  argv.insert(argv.end(), {"info", "--format", "{{json .}}"});
  CommandResult answer = RunCommand(argv, {.deadline = kAnswerWithin});
  if (!answer.ok()) ThrowUnanswered(argv[0], answer.Describe());
  return answer;
}

void RequireLocal(const std::string& name, const std::string& endpoint) {
  if (IsLocalEndpoint(endpoint) || Environment(kAllowRemote) == "1") return;
  throw Error(
      ErrorCode::kUnsupported,
      fmt::format("{} is set to \"{}\", which is not a socket of this machine: its containers' "
                  "cgroups may not be readable here. Unset the variable or context that says so, "
                  "or set {}=1 when the engine does run on this machine",
                  name, endpoint, kAllowRemote));
}

Engine OpenDocker() {
  Engine engine;
  engine.kind = LauncherKind::kDocker;
  std::string endpoint = Environment("DOCKER_HOST");
  if (endpoint.empty()) {
    const CommandResult context =
        RunCommand({"docker", "context", "inspect", "--format", "{{.Endpoints.docker.Host}}"},
                   {.deadline = kAnswerWithin});
    endpoint = std::string(Trim(context.out));
    if (!context.ok() || endpoint.empty()) endpoint = "unix:///var/run/docker.sock";
  }
  RequireLocal("docker", endpoint);
  // Given with every call, so that a clean-up after the environment changed reaches the same
  // engine.
  if (IsLocalEndpoint(endpoint)) engine.global_options = {"--host", endpoint};
  engine.info = ParseDockerInfo(AskInfo(engine.kind, engine.global_options).out);
  if (!engine.info.refusal.empty()) ThrowUnanswered("docker", engine.info.refusal);
  engine.run_options = {"--log-driver", "json-file", "--log-opt",
                        "max-size=8m",  "--log-opt", "max-file=2"};
  return engine;
}

Engine OpenPodman() {
  const std::string endpoint = Environment("CONTAINER_HOST");
  if (!endpoint.empty()) RequireLocal("podman", endpoint);
  return AdaptPodman(ParsePodmanInfo(AskInfo(LauncherKind::kPodman, {}).out), EngineHost::Look());
}

}  // namespace

EngineHost EngineHost::Look() {
  EngineHost host;
  host.hybrid_cgroups = DetectCgroupMode() == CgroupMode::kHybrid;
  std::error_code ec;
  host.systemd_runs = std::filesystem::is_directory("/run/systemd/system", ec);
  host.may_raise_limits = HasSysResource();
  host.hard_open_files = HardLimit(RLIMIT_NOFILE);
  host.hard_processes = SmallerLimit(HardLimit(RLIMIT_NPROC), PidMax());
  host.runc = FindRunc();
  return host;
}

std::string Engine::version() const {
  return fmt::format("{} {} ({})", name(), info.version, info.cgroup_driver);
}

std::string Engine::Describe() const {
  std::string text =
      fmt::format("{} {}, cgroup driver {}", name(), info.version, info.cgroup_driver);
  if (!info.runtime.empty()) text += ", runtime " + info.runtime;
  if (info.rootless) text += ", rootless";
  return text;
}

std::vector<std::string> Engine::Argv(const std::vector<std::string>& call) const {
  std::vector<std::string> argv = {name()};
  argv.insert(argv.end(), global_options.begin(), global_options.end());
  argv.insert(argv.end(), call.begin(), call.end());
  return argv;
}

CommandResult Engine::Call(const std::vector<std::string>& call,
                           const CommandOptions& options) const {
  return RunCommand(Argv(call), options);
}

bool IsLocalEndpoint(const std::string& endpoint) { return endpoint.rfind("unix://", 0) == 0; }

std::string LimitLack(LauncherKind kind, const EngineInfo& info) {
  const std::string name = LauncherName(kind);
  if (info.operating_system.find("Docker Desktop") != std::string::npos) {
    return "Docker Desktop runs containers in a virtual machine whose cgroups cannot be read from "
           "here; run the test on Linux with Docker Engine, or use the cgroup launcher";
  }
  if (info.remote) {
    return name +
           " is a client of another machine whose cgroups cannot be read from here; run "
           "the test on that machine, or use the cgroup launcher";
  }
  if (info.rootless && info.cgroup_version == 1) {
    return fmt::format(
        "rootless {} cannot set limits on cgroup v1; boot with cgroup v2 "
        "(systemd.unified_cgroup_hierarchy=1), run as root, or use another launcher",
        name);
  }
  if (info.cgroup_driver == "none") {
    return fmt::format(
        "{} ignores limits because its cgroup driver is \"none\" (rootless without "
        "systemd); start it in a systemd user session, or run as root",
        name);
  }
  const auto& controllers = info.controllers;
  if (kind == LauncherKind::kPodman && info.rootless &&
      std::find(controllers.begin(), controllers.end(), "cpu") == controllers.end()) {
    return "the cpu controller is not delegated to this user, so rootless podman cannot set a CPU "
           "quota; add Delegate=cpu cpuset io memory pids to user@.service and log in again";
  }
  return "";
}

Engine AdaptPodman(EngineInfo info, const EngineHost& host) {
  Engine engine;
  engine.kind = LauncherKind::kPodman;
  if (!host.systemd_runs) engine.global_options = {"--cgroup-manager", "cgroupfs"};
  if (host.hybrid_cgroups && info.runtime != "runc") {
    if (host.runc.empty()) {
      throw Error(ErrorCode::kUnsupported,
                  fmt::format("podman's runtime {} refuses the hybrid cgroup layout of this "
                              "machine; install runc, or use another launcher",
                              info.runtime));
    }
    engine.global_options.insert(engine.global_options.end(), {"--runtime", host.runc});
    info.runtime = "runc";
  }
  engine.run_options = {"--log-driver", "k8s-file"};
  // Without the capability the runtime fails when podman asks for more than the hard limits.
  if (!host.may_raise_limits && !info.rootless) {
    const auto keep = [&](const char* name, long long hard) {
      if (hard < 0) return;
      engine.run_options.insert(engine.run_options.end(),
                                {"--ulimit", fmt::format("{}={}:{}", name, hard, hard)});
    };
    keep("nofile", host.hard_open_files);
    keep("nproc", host.hard_processes);
  }
  if (!host.systemd_runs) info.cgroup_driver = "cgroupfs";
  engine.info = std::move(info);
  return engine;
}

Engine OpenEngine(LauncherKind kind) {
  static std::mutex mutex;
  static std::map<std::string, Engine> known;
  const std::string key =
      std::string(LauncherName(kind)) + " " +
      Environment(kind == LauncherKind::kDocker ? "DOCKER_HOST" : "CONTAINER_HOST");
  {
    const std::lock_guard lock(mutex);
    if (const auto found = known.find(key); found != known.end()) return found->second;
  }
  RequireCommand(kind);
  Engine engine = kind == LauncherKind::kDocker ? OpenDocker() : OpenPodman();
  if (const std::string lack = LimitLack(kind, engine.info); !lack.empty()) {
    throw Error(ErrorCode::kUnsupported, lack);
  }
  const std::lock_guard lock(mutex);
  known.emplace(key, engine);
  return engine;
}

}  // namespace throttletest::internal
