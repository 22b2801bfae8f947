// The argument vectors that container engines are called with.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "service/engine_spec.h"
#include "service/instance.h"

namespace throttletest::internal {

// On everything made in an engine.
inline constexpr const char* kOwnerLabel = "throttletest.owner";
// "throttletest.owner=..." with this process as the owner.
std::string OwnLabel();
// "throttletest.user=UID": an engine may serve several users, and nobody's things are removed by
// another.
std::string UserLabel();

// A call together with the environment that carries its secrets.
struct EngineCall {
  std::vector<std::string> arguments;
  std::map<std::string, std::string> env;
};

// `run -d`: starts `request` as container `name` from `image`; a job is only made (`create`).
// Limits are given in the kernel's numbers, so that all rounding is ours. Secrets are passed by
// name, with their values in the engine command's own environment, which only this user can read.
//
// `own_image`: the image was made from the host's program, so the command's first element is its
// path there and "/" is the working directory.
// Errors: kInvalidArgument for an image or variable name that cannot be passed on.
EngineCall RunCall(const Engine& engine, const LaunchRequest& request, const std::string& name,
                   const std::string& image, bool own_image);

// `update`: other limits for a running container, as far as engines can express them: a memory
// limit or cpuset cannot be lifted.
std::vector<std::string> UpdateCall(const ResolvedLimits& limits, const std::string& name);

// `import`: makes an image from the archive on stdin, which must be a file.
std::vector<std::string> ImportCall(LauncherKind engine, const std::string& image);

// An engine's answer says that what it was told to remove is already gone.
bool SaysGone(const CommandResult& answer);

}  // namespace throttletest::internal
