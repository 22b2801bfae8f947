// LimitOrigin: the line of a deployment file that a limit was read from.
#pragma once

#include <string>
#include <vector>

namespace throttletest {

// One value of a Compose file or a Kubernetes manifest that became a limit, so that a message can
// name the line to look at.
struct LimitOrigin {
  std::string file;   // as the caller named it
  int line = 0;       // 1-based; of an alias, the line of what it stands for
  std::string key;    // "services.web.cpus"
  std::string value;  // as it counts, after variables were replaced: "0.5"

  friend bool operator==(const LimitOrigin&, const LimitOrigin&) = default;
};

// "compose.yaml:7: services.web.cpus: 0.5".
std::string ToString(const LimitOrigin& origin);
// All of them with "; " between. Empty: empty.
std::string ToString(const std::vector<LimitOrigin>& origins);

}  // namespace throttletest
