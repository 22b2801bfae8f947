#include "throttletest/service/attach.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <utility>

#include "base/refuse.h"
#include "service/attach_cgroup.h"
#include "service/attach_container.h"
#include "service/attach_process.h"
#include "service/attached_instance.h"
#include "service/engine_cgroup.h"
#include "service/port.h"
#include "service/running_service.h"
#include "service/wait_ready.h"
#include "throttletest/base/error.h"

namespace throttletest {
namespace {

using internal::AttachedInstance;
using internal::AttachedTo;
using internal::FoundContainer;
using internal::Refuse;

// Names and ids as engines make them; a leading dash would be an option of theirs.
bool IsContainerName(const std::string& name) {
  const auto plain = [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '_' || c == '.' || c == '-';
  };
  return !name.empty() && std::isalnum(static_cast<unsigned char>(name[0])) != 0 &&
         std::all_of(name.begin(), name.end(), plain);
}

AttachedTo FindProcess(pid_t pid) {
  AttachedTo to{.pid = pid, .process = internal::HoldProcess(pid)};
  to.what = fmt::format("process {} ({})", pid, internal::ProgramName(pid));
  to.location = LocateCgroup(pid);
  return to;
}

AttachedTo FindContainer(const AttachTarget& target) {
  FoundContainer container = internal::FindRunningContainer(target.name(), target.engine());
  const pid_t pid = container.state.pid;
  AttachedTo to{.pid = pid};
  // First, because the number may mean nothing on this host.
  to.location = internal::LocateContainer(pid, container.state.id);
  to.process = internal::HoldProcess(pid);
  to.what = fmt::format("{} container {}", container.engine.name(), target.name());
  to.container = std::move(container);
  return to;
}

AttachedTo FindInCgroup(const std::string& path, std::uint16_t port) {
  const std::string directory = internal::CgroupDirectory(path);
  const std::vector<pid_t> processes = internal::ProcessesBelow(directory);
  auto pid = internal::OldestProcess(internal::ListenersAmong(processes, port));
  if (!pid) pid = internal::OldestProcess(processes);
  if (!pid) {
    throw Error(ErrorCode::kNotReady, "no process that can be seen from here is in it or below it");
  }
  AttachedTo to{.pid = *pid, .process = internal::HoldProcess(*pid)};
  to.what = fmt::format("cgroup {}", directory);
  to.location = internal::LocateAtDirectory(*pid, directory);
  return to;
}

AttachedTo Find(const AttachSpec& spec) {
  switch (spec.target.kind()) {
    case AttachTarget::Kind::kProcess:
      return FindProcess(spec.target.pid());
    case AttachTarget::Kind::kContainer:
      return FindContainer(spec.target);
    case AttachTarget::Kind::kCgroup:
      break;
  }
  return FindInCgroup(spec.target.name(), spec.port);
}

// Where the load goes to.
struct Port {
  std::uint16_t number = 0;
  // A listener that is none of the service's processes is somebody else. Not so where another
  // listens in the service's place: the engine for a published port, or a proxy that nobody here
  // knows of for a process in a network of its own.
  bool only_the_service_listens = true;
  std::string hint = {};  // what else may be meant, for a message
};

Port PortOf(const AttachSpec& spec, const AttachedTo& to) {
  Port port{.number = spec.port};
  if (to.container) {
    port.only_the_service_listens = !internal::PublishesAt(to.container->state, spec.port);
    const std::string all = internal::PublishedPorts(to.container->state);
    if (!all.empty()) port.hint = fmt::format("; it publishes {}", all);
  } else if (internal::InOtherNetwork(to.pid)) {
    port.only_the_service_listens = false;
    port.hint = "; it is in a network namespace of its own";
  }
  return port;
}

// Who else listens on the port. Absent: empty, nobody or it cannot be told.
std::string Stranger(const Port& port, const Service& service) {
  if (port.number == 0 || !port.only_the_service_listens) return {};
  const CgroupLocation& location = service.cgroup().location();
  const auto& leaf = location.cpu ? location.cpu : location.cpuacct;
  std::vector<pid_t> processes = internal::ProcessesBelow(leaf->directory());
  processes.push_back(service.pid());
  return internal::FindStranger(port.number, processes);
}

[[noreturn]] void ThrowStranger(const Port& port, const std::string& who) {
  throw Error(ErrorCode::kUnsupported,
              fmt::format("port {} is listened on by {}, not by the service; nothing was sent to "
                          "it{}",
                          port.number, who, port.hint));
}

// Without a readiness check of the user's: one look at the port.
void RequireAnswer(const Port& port) {
  const std::string answer = TcpReady().Try({.host = "127.0.0.1", .port = port.number});
  if (answer.empty()) return;
  throw Error(ErrorCode::kNotReady,
              fmt::format("port {} does not answer ({}): give the port that the service listens "
                          "on at 127.0.0.1{}",
                          port.number, answer, port.hint));
}

void AwaitReady(const AttachSpec& spec, const Port& port, bool keeps_logs, const Service& service,
                const std::stop_token& stop) {
  if (!spec.ready) {
    if (const std::string who = Stranger(port, service); !who.empty()) ThrowStranger(port, who);
    if (port.number != 0) RequireAnswer(port);
    return;
  }
  internal::ReadyWatch watch = internal::RealTimeWatch();
  watch.ended = [&] { return service.alive() ? std::string() : service.Trouble(); };
  watch.stranger = [&] { return Stranger(port, service); };
  ReadinessTarget target{.host = "127.0.0.1", .port = port.number};
  if (keeps_logs) target.logs = [&] { return service.logs(); };
  try {
    internal::WaitReady(service.launcher_version(), *spec.ready, target, watch, stop);
  } catch (const internal::PortTaken& taken) {
    ThrowStranger(port, taken.who);
  }
}

void CheckSpec(const AttachSpec& spec) {
  if (spec.ready && spec.ready->looks_at_port() && spec.port == 0) {
    Refuse(fmt::format("readiness \"{}\" looks at a port: give AttachSpec::port",
                       spec.ready->description()));
  }
}

std::unique_ptr<Service> Attach(const AttachSpec& spec, const std::stop_token& stop) {
  AttachedTo to = Find(spec);
  to.location = internal::WithoutShared(to.location, LocateCgroup(::getpid()));
  const Port port = PortOf(spec, to);
  const bool keeps_logs = to.container.has_value();
  auto instance = std::make_unique<AttachedInstance>(std::move(to));
  const ResolvedLimits limits = internal::LimitsIn(*instance->found());
  ServiceSpec described;
  described.launcher = LauncherKind::kAttached;
  if (spec.ready) described.ready = *spec.ready;
  auto service = std::make_unique<internal::RunningService>(
      std::move(described), LauncherKind::kAttached, spec.port, limits, std::move(instance));
  AwaitReady(spec, port, keeps_logs, *service, stop);
  return service;
}

}  // namespace

std::string AttachTarget::ToString() const {
  switch (kind_) {
    case Kind::kProcess:
      return fmt::format("process {}", pid_);
    case Kind::kContainer:
      return fmt::format(
          "{}container {}",
          engine_ == LauncherKind::kAuto ? "" : std::string(LauncherName(engine_)) + " ", name_);
    case Kind::kCgroup:
      break;
  }
  return fmt::format("cgroup {}", name_);
}

AttachTarget RunningProcess(pid_t pid) {
  if (pid < 1) Refuse(fmt::format("process {} is not possible: write a number of 1 or more", pid));
  AttachTarget target(AttachTarget::Kind::kProcess);
  target.pid_ = pid;
  return target;
}

AttachTarget RunningContainer(std::string name_or_id, LauncherKind engine) {
  if (!IsContainerName(name_or_id)) {
    Refuse(
        fmt::format("\"{}\" is not a container's name or id: letters, digits, '_', '.' and '-', "
                    "with a letter or digit first",
                    name_or_id));
  }
  if (engine == LauncherKind::kCgroup || engine == LauncherKind::kAttached) {
    Refuse(fmt::format("\"{}\" is not a container engine: write docker, podman or auto",
                       LauncherName(engine)));
  }
  AttachTarget target(AttachTarget::Kind::kContainer);
  target.name_ = std::move(name_or_id);
  target.engine_ = engine;
  return target;
}

AttachTarget RunningCgroup(std::string path) {
  if (path.empty() || path[0] != '/') {
    Refuse(
        fmt::format("cgroup \"{}\" does not start with '/': give its directory, such as "
                    "/sys/fs/cgroup/system.slice/web.service",
                    path));
  }
  AttachTarget target(AttachTarget::Kind::kCgroup);
  target.name_ = std::move(path);
  return target;
}

std::unique_ptr<Service> AttachService(const AttachSpec& spec, const std::stop_token& stop) {
  CheckSpec(spec);
  try {
    return Attach(spec, stop);
  } catch (const Error& error) {
    throw Error(error.code(),
                fmt::format("cannot attach to {}: {}", spec.target.ToString(), error.what()));
  }
}

}  // namespace throttletest
