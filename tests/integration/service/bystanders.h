// Bystanders: things on this machine that a cleanup must not touch.
#pragma once

#include <string>
#include <vector>

#include "engine_support.h"

namespace throttletest::test {

// A service of a living owner (this process), a cgroup with a process of a name that is not ours
// but begins like it, and in an engine a container of such a name. Gone with the object.
class Bystanders {
 public:
  explicit Bystanders(LauncherKind launcher);
  Bystanders(const Bystanders&) = delete;
  Bystanders& operator=(const Bystanders&) = delete;
  ~Bystanders();

  // What was done to them. Empty: nothing.
  std::vector<std::string> Harm() const;

 private:
  void MakeCgroup();
  void MakeContainer();
  std::string ContainerState() const;

  LauncherKind launcher_;
  std::string name_;
  std::unique_ptr<Service> service_;
  std::string cgroup_;
  pid_t process_ = 0;
  std::string container_;  // its state when it was made
};

}  // namespace throttletest::test
