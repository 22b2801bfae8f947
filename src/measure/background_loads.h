// BackgroundLoads: which background loads this process has, for the measurements they run beside.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace throttletest::internal {

// One that runs now.
struct BackgroundLook {
  std::uint64_t id = 0;  // never used twice
  std::string service;
  std::string load;
  std::string trouble;  // as BackgroundUse::trouble, as far as it shows by now

  friend bool operator==(const BackgroundLook&, const BackgroundLook&) = default;
};

// In the order in which they began. Errors: none.
std::vector<BackgroundLook> LookAtBackgroundLoads();

// Why a window that began with `before` and ended with `after` was not all under the same load.
// Absent: empty, it was.
std::vector<std::string> BackgroundFaults(const std::vector<BackgroundLook>& before,
                                          const std::vector<BackgroundLook>& after);

}  // namespace throttletest::internal
