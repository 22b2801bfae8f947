// EngineContainer: one container of an engine and the image made for it, removed with it.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "service/engine_inspect.h"
#include "service/engine_spec.h"
#include "service/instance.h"
#include "service/watcher.h"

namespace throttletest::internal {

// What the engine says about a container now. Absent: it knows no such container. Errors:
// kServiceStart when it does not answer.
std::optional<ContainerState> FindContainer(const Engine& engine, const std::string& name);
// The last 64 KiB of a container's output; when the engine does not hand them out, a line that says
// why.
std::string ContainerLogs(const Engine& engine, const std::string& name);

// Makes and removes. From the constructor on, a watcher removes it all if this process dies.
// The destructor removes what is still there. Not thread-safe, except Logs().
class EngineContainer {
 public:
  explicit EngineContainer(Engine engine);
  EngineContainer(const EngineContainer&) = delete;
  EngineContainer& operator=(const EngineContainer&) = delete;
  ~EngineContainer();

  // Makes the image when none is given, and runs the container; that of a job is only made. Errors:
  // kServiceStart, kInvalidArgument, kUnsupported (the engine refused a limit).
  void Start(const LaunchRequest& request);
  // Runs a container that was only made. Errors: kServiceStart.
  void Run() const;

  // Errors: kServiceStart when the engine does not answer.
  ContainerState Inspect() const;
  // Waits until the engine has noticed the end. Absent: it does not within the deadline.
  std::optional<ContainerState> InspectEnded(std::chrono::nanoseconds within) const;
  // The last 64 KiB; when the engine does not hand them out, a line that says why.
  std::string Logs() const;
  // Errors: none; an ended container is not an error.
  void Signal(const char* name) const;
  CommandResult Update(const ResolvedLimits& limits) const;

  // System-wide OOM kills since just before the container was started; not only its own. Absent:
  // the kernel does not count them.
  std::optional<std::int64_t> SystemOomKills() const;

  // Kills what still runs, and removes container and image. Idempotent. Returns what could not be
  // removed and why. Errors: none.
  std::string Remove();

  const Engine& engine() const { return engine_; }
  const std::string& name() const { return name_; }

 private:
  void MakeImage(const LaunchRequest& request, const std::string& program);
  void RequireImage(const std::string& image) const;

  Engine engine_;
  std::string name_;
  CleanupTicket ticket_;
  bool made_image_ = false;
  bool started_ = false;
  mutable bool ended_ = false;
  std::optional<std::int64_t> oom_kills_before_;
  bool removed_ = false;
};

}  // namespace throttletest::internal
