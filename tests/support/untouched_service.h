// A service that must not be touched: what cannot be done is refused before anything happens.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

#include "throttletest/service/service.h"

namespace throttletest::testing_support {

class UntouchedService : public Service {
 public:
  LauncherKind launcher() const override { return LauncherKind::kCgroup; }
  std::string launcher_version() const override { return "none"; }
  std::uint16_t port() const override { return 1; }
  pid_t pid() const override { return 1; }
  const Cgroup& cgroup() const override { throw std::logic_error("touched"); }
  const ServiceSpec& spec() const override { return spec_; }
  const ResolvedLimits& requested() const override { return limits_; }
  bool alive() const override { return true; }
  std::string Trouble() const override { return {}; }
  std::string logs() const override { return {}; }
  void Update(const Limits&) override { throw std::logic_error("touched"); }
  ExitReport Stop() override { return {}; }

 private:
  ServiceSpec spec_;
  ResolvedLimits limits_;
};

}  // namespace throttletest::testing_support
