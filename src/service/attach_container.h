// Finding a running container by its name in the engines of this machine.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "service/engine_inspect.h"
#include "service/engine_spec.h"
#include "throttletest/base/error.h"

namespace throttletest::internal {

// What one engine says when it is asked for a container. A value, so that tests make one up.
struct EngineAnswer {
  LauncherKind engine = LauncherKind::kDocker;
  // Why it could not be asked. Absent: empty, it answered.
  std::string lack = {};
  ErrorCode lack_code = ErrorCode::kNoContainerRuntime;
  std::optional<ContainerState> state = {};  // Absent: it knows no such container
  // The names of those that run, when no engine runs what was asked for and this one knows no such.
  std::vector<std::string> running = {};
};

// The answer with the container that runs. `name` is for messages.
// Errors: kNotReady when no engine knows it (with what runs), or it does not run; kInvalidArgument
// when several engines run one of this name; the lack of an engine when none could be asked.
const EngineAnswer& ChooseAnswer(const std::string& name, const std::vector<EngineAnswer>& answers);

// A running container.
struct FoundContainer {
  Engine engine;
  ContainerState state;
};
// Asks `kind`, or docker and podman for kAuto. Errors: as ChooseAnswer(); kServiceStart when an
// engine does not answer any more.
FoundContainer FindRunningContainer(const std::string& name, LauncherKind kind);

// The port of a container is published at `port` of this host's 127.0.0.1.
bool PublishesAt(const ContainerState& state, std::uint16_t port);
// "8080 at 32768, 9090 at 32769". Absent: empty, none is published on IPv4.
std::string PublishedPorts(const ContainerState& state);

}  // namespace throttletest::internal
