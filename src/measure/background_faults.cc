#include <fmt/format.h>

#include <algorithm>

#include "measure/background_loads.h"

namespace throttletest::internal {
namespace {

const BackgroundLook* Find(const std::vector<BackgroundLook>& looks, std::uint64_t id) {
  const auto found =
      std::find_if(looks.begin(), looks.end(), [&](const auto& look) { return look.id == id; });
  return found == looks.end() ? nullptr : &*found;
}

}  // namespace

std::vector<std::string> BackgroundFaults(const std::vector<BackgroundLook>& before,
                                          const std::vector<BackgroundLook>& after) {
  std::vector<std::string> faults;
  for (const BackgroundLook& look : before) {
    const BackgroundLook* now = Find(after, look.id);
    if (now == nullptr) {
      faults.push_back(fmt::format(
          "the background load on \"{}\" was stopped before the end of the window", look.service));
    } else if (!now->trouble.empty()) {
      faults.push_back(fmt::format("the background load on \"{}\" cannot be relied on: {}",
                                   look.service, now->trouble));
    }
  }
  for (const BackgroundLook& look : after) {
    if (Find(before, look.id) != nullptr) continue;
    faults.push_back(fmt::format(
        "the background load on \"{}\" began only after the window had begun", look.service));
  }
  return faults;
}

}  // namespace throttletest::internal
