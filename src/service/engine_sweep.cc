#include "service/engine_sweep.h"

#include <fmt/format.h>

#include <exception>
#include <future>
#include <iterator>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "service/engine_command.h"
#include "service/engine_spec.h"
#include "service/owner.h"
#include "service/program.h"
#include "throttletest/base/error.h"

namespace throttletest::internal {
namespace {

constexpr auto kQuickly = std::chrono::seconds(10);

std::vector<std::string> List(const Engine& engine, const std::vector<std::string>& what,
                              const std::string& format) {
  std::vector<std::string> call = what;
  call.insert(call.end(), {"--filter", fmt::format("label={}", kOwnerLabel), "--filter",
                           "label=" + UserLabel(), "--format", format});
  const CommandResult result = engine.Call(call, {.deadline = kQuickly});
  if (!result.ok()) throw Error(ErrorCode::kNoContainerRuntime, result.Describe());
  return DeadNames(result.out);
}

void Append(LeftoverSearch& to, LeftoverSearch more) {
  std::move(more.found.begin(), more.found.end(), std::back_inserter(to.found));
  std::move(more.not_asked.begin(), more.not_asked.end(), std::back_inserter(to.not_asked));
}

}  // namespace

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

LeftoverSearch FindEngineLeftovers(LauncherKind engine) {
  LeftoverSearch search;
  if (!FindProgram(LauncherName(engine))) return search;
  try {
    const Engine opened = OpenEngine(engine);
    for (auto& name : List(opened, {"ps", "--all"}, "{{.Names}}")) {
      search.found.push_back({Leftover::Kind::kContainer, engine, std::move(name)});
    }
    for (auto& name : List(opened, {"images"}, "{{.Repository}}")) {
      search.found.push_back({Leftover::Kind::kImage, engine, std::move(name)});
    }
  } catch (const std::exception& e) {
    search.not_asked.emplace_back(e.what());
  }
  return search;
}

LeftoverSearch FindEngineLeftovers() {
  // Side by side: an engine takes a good part of a second to answer.
  auto podman =
      std::async(std::launch::async, [] { return FindEngineLeftovers(LauncherKind::kPodman); });
  LeftoverSearch search = FindEngineLeftovers(LauncherKind::kDocker);
  Append(search, podman.get());
  return search;
}

std::string RemoveEngineLeftover(const Leftover& leftover) {
  const bool image = leftover.kind == Leftover::Kind::kImage;
  try {
    const Engine engine = OpenEngine(leftover.launcher);
    // Removing a running container would first wait for the engine's own grace time.
    if (!image) engine.Call({"kill", "--signal", "KILL", leftover.name}, {.deadline = kQuickly});
    const CommandResult result =
        engine.Call(image ? std::vector<std::string>{"rmi", "--force", leftover.name}
                          : std::vector<std::string>{"rm", "--force", "--volumes", leftover.name},
                    {.deadline = kQuickly});
    return result.ok() || SaysGone(result) ? std::string() : result.Describe();
  } catch (const std::exception& e) {
    return e.what();
  }
}

std::vector<std::string> SweepEngineLeftovers(LauncherKind engine) {
  std::vector<std::string> removed;
  for (const Leftover& leftover : FindEngineLeftovers(engine).found) {
    // What cannot be removed now is tried again at the next start.
    if (RemoveEngineLeftover(leftover).empty()) removed.push_back(leftover.ToString());
  }
  return removed;
}

}  // namespace throttletest::internal
