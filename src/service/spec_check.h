// Checking a ServiceSpec and turning it into what a launcher gets.
#pragma once

#include <cstdint>
#include <string>

#include "service/instance.h"
#include "throttletest/service/service_spec.h"

namespace throttletest::internal {

// Refuses what cannot be, before anything starts. `kind` is never kAuto.
// Errors: kInvalidArgument quoting the value and naming the fix; kServiceStart for a program that
// cannot be run.
void CheckSpec(const ServiceSpec& spec, LauncherKind kind);

// `text` with every "{port}" replaced.
std::string FillPort(const std::string& text, std::uint16_t port);
// True when the port is told to the service: "{port}" in the command or the environment, or a
// container_port that is published at it. Otherwise the service listens where it likes.
bool UsesPort(const ServiceSpec& spec);

// What a launcher gets for one start.
LaunchRequest MakeRequest(const ServiceSpec& spec, std::uint16_t port,
                          const ResolvedLimits& limits);

}  // namespace throttletest::internal
