#include "service/engine_sweep.h"

#include <fmt/format.h>

#include <future>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "service/engine_command.h"
#include "service/instance.h"
#include "service/owner.h"
#include "throttletest/base/error.h"

namespace throttletest::internal {
namespace {

constexpr auto kQuickly = std::chrono::seconds(10);

std::vector<std::string> List(const Engine& engine, const std::vector<std::string>& what,
                              const std::string& format) {
  std::vector<std::string> call = what;
  call.insert(call.end(), {"--filter", fmt::format("label={}", kOwnerLabel), "--format", format});
  const CommandResult result = engine.Call(call, {.deadline = kQuickly});
  return result.ok() ? DeadNames(result.out) : std::vector<std::string>();
}

bool Remove(const EngineLeftover& leftover) {
  const std::vector<std::string> call =
      leftover.image ? std::vector<std::string>{"rmi", "--force", leftover.name}
                     : std::vector<std::string>{"rm", "--force", "--volumes", leftover.name};
  return OpenEngine(leftover.kind).Call(call, {.deadline = kQuickly}).ok();
}

}  // namespace

std::string EngineLeftover::ToString() const {
  return std::string(LauncherName(kind)) + (image ? " image " : " container ") + name;
}

std::vector<std::string> DeadNames(const std::string& listing) {
  std::vector<std::string> names;
  std::string_view rest = listing;
  while (!rest.empty()) {
    const auto end = rest.find('\n');
    std::string_view name = Trim(rest.substr(0, end));
    rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
    constexpr std::string_view kLocal = "localhost/";
    if (name.rfind(kLocal, 0) == 0) name.remove_prefix(kLocal.size());
    const auto owner = OwnerOfName(std::string(name));
    if (owner && !owner->Alive()) names.emplace_back(name);
  }
  return names;
}

std::vector<EngineLeftover> FindEngineLeftovers(LauncherKind engine) {
  std::vector<EngineLeftover> found;
  try {
    const Engine opened = OpenEngine(engine);
    for (auto& name : List(opened, {"ps", "--all"}, "{{.Names}}")) {
      found.push_back({engine, false, std::move(name)});
    }
    for (auto& name : List(opened, {"images"}, "{{.Repository}}")) {
      found.push_back({engine, true, std::move(name)});
    }
  } catch (const std::exception&) {
    // Not usable here: nothing of ours can be in it that this process could remove.
  }
  return found;
}

std::vector<EngineLeftover> FindEngineLeftovers() {
  // Side by side: an engine takes a good part of a second to answer.
  auto podman =
      std::async(std::launch::async, [] { return FindEngineLeftovers(LauncherKind::kPodman); });
  std::vector<EngineLeftover> found = FindEngineLeftovers(LauncherKind::kDocker);
  for (EngineLeftover& leftover : podman.get()) found.push_back(std::move(leftover));
  return found;
}

std::vector<std::string> SweepEngineLeftovers(LauncherKind engine) {
  std::vector<std::string> removed;
  for (const EngineLeftover& leftover : FindEngineLeftovers(engine)) {
    try {
      if (Remove(leftover)) removed.push_back(leftover.ToString());
    } catch (const std::exception&) {
      // Tried again at the next start.
    }
  }
  return removed;
}

}  // namespace throttletest::internal
