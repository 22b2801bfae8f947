#include "cli/clean_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "cli/output.h"
#include "throttletest/service/cleanup.h"

namespace throttletest::cli {
namespace {

struct Outcome {
  Leftover leftover;
  bool removed = false;
  std::string problem = {};  // why it was not
};

std::vector<Outcome> Treat(const std::vector<Leftover>& leftovers, bool dry_run) {
  std::vector<Outcome> outcomes;
  for (const Leftover& leftover : leftovers) {
    Outcome outcome{.leftover = leftover};
    if (!dry_run) outcome.problem = RemoveLeftover(leftover);
    outcome.removed = !dry_run && outcome.problem.empty();
    outcomes.push_back(std::move(outcome));
  }
  return outcomes;
}

void PrintJson(const CleanOptions& options, const std::vector<Outcome>& outcomes,
               const std::vector<std::string>& not_asked) {
  nlohmann::ordered_json document;
  document["schema"] = "throttletest/clean/1";
  document["dry_run"] = options.dry_run;
  document["leftovers"] = nlohmann::ordered_json::array();
  for (const Outcome& outcome : outcomes) {
    document["leftovers"].push_back({{"kind", LeftoverKindName(outcome.leftover.kind)},
                                     {"launcher", LauncherName(outcome.leftover.launcher)},
                                     {"name", outcome.leftover.name},
                                     {"removed", outcome.removed},
                                     {"problem", outcome.problem}});
  }
  document["not_asked"] = not_asked;
  Print(
      fmt::format("{}\n", document.dump(2, ' ', false, nlohmann::json::error_handler_t::replace)));
}

void PrintText(const CleanOptions& options, const std::vector<Outcome>& outcomes,
               const std::vector<std::string>& not_asked) {
  for (const Outcome& outcome : outcomes) {
    const std::string name = outcome.leftover.ToString();
    if (options.dry_run) {
      Print(fmt::format("would remove {}\n", name));
    } else if (outcome.removed) {
      Print(fmt::format("removed {}\n", name));
    } else {
      Print(fmt::format("could not remove {}: {}\n", name, outcome.problem));
    }
  }
  if (outcomes.empty()) Print("Test processes that have ended left nothing.\n");
  for (const std::string& engine : not_asked) Print(fmt::format("not asked: {}\n", engine));
}

}  // namespace

ExitStatus Clean(const CleanOptions& options) {
  const LeftoverSearch search = FindLeftovers();
  const std::vector<Outcome> outcomes = Treat(search.found, options.dry_run);
  options.json ? PrintJson(options, outcomes, search.not_asked)
               : PrintText(options, outcomes, search.not_asked);
  const bool nothing_left = std::all_of(outcomes.begin(), outcomes.end(),
                                        [](const Outcome& outcome) { return outcome.removed; });
  return nothing_left ? kBudgetsMet : kCannotMeasure;
}

}  // namespace throttletest::cli
