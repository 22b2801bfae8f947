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

struct Treated {
  Leftover leftover;
  bool removed = false;
  std::string problem = {};  // why it was not
};

std::vector<Treated> Treat(const std::vector<Leftover>& leftovers, bool dry_run) {
  std::vector<Treated> treated;
  for (const Leftover& leftover : leftovers) {
    Treated one{.leftover = leftover};
    if (!dry_run) one.problem = RemoveLeftover(leftover);
    one.removed = !dry_run && one.problem.empty();
    treated.push_back(std::move(one));
  }
  return treated;
}

void PrintJson(const CleanOptions& options, const std::vector<Treated>& treated,
               const std::vector<std::string>& not_asked) {
  nlohmann::ordered_json document;
  document["schema"] = "throttletest/clean/1";
  document["dry_run"] = options.dry_run;
  document["leftovers"] = nlohmann::ordered_json::array();
  for (const Treated& one : treated) {
    document["leftovers"].push_back({{"kind", LeftoverKindName(one.leftover.kind)},
                                     {"launcher", LauncherName(one.leftover.launcher)},
                                     {"name", one.leftover.name},
                                     {"removed", one.removed},
                                     {"problem", one.problem}});
  }
  document["not_asked"] = not_asked;
  Print(
      fmt::format("{}\n", document.dump(2, ' ', false, nlohmann::json::error_handler_t::replace)));
}

void PrintText(const CleanOptions& options, const std::vector<Treated>& treated,
               const std::vector<std::string>& not_asked) {
  for (const Treated& one : treated) {
    const std::string name = one.leftover.ToString();
    if (options.dry_run) {
      Print(fmt::format("would remove {}\n", name));
    } else if (one.removed) {
      Print(fmt::format("removed {}\n", name));
    } else {
      Print(fmt::format("could not remove {}: {}\n", name, one.problem));
    }
  }
  if (treated.empty()) Print("Test processes that have ended left nothing.\n");
  for (const std::string& engine : not_asked) Print(fmt::format("not asked: {}\n", engine));
}

}  // namespace

ExitStatus Clean(const CleanOptions& options) {
  const LeftoverSearch search = FindLeftovers();
  const std::vector<Treated> treated = Treat(search.found, options.dry_run);
  options.json ? PrintJson(options, treated, search.not_asked)
               : PrintText(options, treated, search.not_asked);
  const bool nothing_left =
      std::all_of(treated.begin(), treated.end(), [](const Treated& one) { return one.removed; });
  return nothing_left ? kBudgetsMet : kCannotMeasure;
}

}  // namespace throttletest::cli
