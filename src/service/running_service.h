// RunningService: the Service every launcher's Instance becomes.
#pragma once

#include <cstdint>
#include <memory>
#include <stop_token>
#include <string>

#include "service/instance.h"
#include "service/running_services.h"
#include "throttletest/service/service.h"

namespace throttletest::internal {

// What is the same for all launchers: readiness, reading limits back, updates, trouble.
class RunningService final : public Service {
 public:
  RunningService(ServiceSpec spec, LauncherKind kind, std::uint16_t port, ResolvedLimits requested,
                 std::unique_ptr<Instance> instance);
  ~RunningService() override;

  LauncherKind launcher() const override { return kind_; }
  std::string launcher_version() const override { return instance_->version(); }
  std::uint16_t port() const override { return port_; }
  pid_t pid() const override { return instance_->pid(); }
  const Cgroup& cgroup() const override { return instance_->cgroup(); }
  const ServiceSpec& spec() const override { return spec_; }
  const ResolvedLimits& requested() const override { return requested_; }
  const Snapshot* found() const override { return instance_->found(); }
  bool alive() const override { return instance_->Running(); }
  std::string Trouble() const override;
  std::string logs() const override { return instance_->Logs(); }
  void Update(const Limits& limits) override;
  ExitReport Stop() override { return instance_->Stop(spec_.stop_grace); }

  // Steps of StartService(). Errors: as there, and PortTaken.
  void AwaitReady(const std::stop_token& stop);
  // Puts the requested limits in force, for start_unlimited.
  void Clamp();
  // Errors: kServiceStart when the limits are not in force or the process is elsewhere, kNotReady
  // when it has ended. `when` is for the message: "right after the start".
  void RequireLimits(const std::string& when) const;

 private:
  // "" while it runs; "exited with status 3", "OOM-killed (1 kill)", or a child that was
  // OOM-killed.
  std::string Ended() const;
  // "" while the main process is in the cgroup it was started in.
  bool StaysRunning() const;
  std::string Moved() const;
  std::string Stranger() const;

  ServiceSpec spec_;
  LauncherKind kind_;
  std::uint16_t port_;
  ResolvedLimits requested_;
  std::unique_ptr<Instance> instance_;
  std::uint64_t start_ticks_ = 0;
  ListedService listed_{*this};  // last, so that a listed service is whole
};

}  // namespace throttletest::internal
