// ComposeFile: the services of a Compose file with `extends` resolved and variables at hand.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "deploy/interpolate.h"
#include "deploy/tree.h"
#include "throttletest/deploy/compose.h"

namespace throttletest::internal {

// A scalar of a service, its variables replaced.
struct ComposeValue {
  std::string text;
  std::string key;  // "services.web.cpus"
  const Node* node = nullptr;
};

class ComposeFile {
 public:
  // Errors (all): kInvalidArgument with file, line and reason.
  ComposeFile(const std::string& file, const ComposeOptions& options);

  std::vector<std::string> service_names() const;
  bool has_service(const std::string& name) const;
  // The line `include` stands in. Absent: no other file is included.
  std::optional<int> include_line() const;
  // The service with everything it extends.
  Node Service(const std::string& name);

  // The scalar at `path` below a service. Absent: it is not there, or is null.
  // Errors: kInvalidArgument: it is no scalar, or nothing is left of it.
  std::optional<ComposeValue> Value(const Node& service, const std::string& name,
                                    const std::vector<std::string>& path) const;
  // Replaces the variables of a scalar. `key`: its name in messages.
  std::string Replace(const Node& scalar, const std::string& key) const;
  std::optional<std::string> Variable(const std::string& name) const;
  // Whether services of this profile are started.
  bool IsActive(const std::string& profile) const;

 private:
  using Chain = std::vector<std::pair<std::string, std::string>>;  // file, service
  const Node& Load(const std::string& file);
  Node Resolve(const std::string& file, const std::string& name, const Chain& chain);

  std::string file_;
  std::map<std::string, Node> loaded_;
  ComposeOptions options_;
  std::map<std::string, std::string> dot_env_;
};

// Lays `over` on `base` as Compose merges files: mappings key by key, anything else is replaced, a
// null leaves what is there. The tags !reset and !override are obeyed.
void MergeInto(Node& base, const Node& over);

}  // namespace throttletest::internal
