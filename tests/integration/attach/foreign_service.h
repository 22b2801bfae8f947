// ForeignService: a burn_server that no launcher started, in a cgroup that somebody else limits.
#pragma once

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "cgroup/writer.h"
#include "service/cgroup_place.h"
#include "service/owner.h"
#include "service/port.h"
#include "throttletest/base/error.h"
#include "throttletest/service/readiness.h"

namespace throttletest::test {

class ForeignService {
 public:
  // Errors: throttletest::Error where no cgroup can be made.
  explicit ForeignService(std::chrono::microseconds quota) {
    const internal::PlaceAnswer answer = internal::FindCgroupPlace(internal::CgroupNeeds{});
    if (!answer.place) throw Error(answer.code, answer.lack);
    if (!answer.place->enable.empty()) {
      internal::EnableControllers(answer.place->parent.unified->directory(), answer.place->enable);
    }
    location_ = internal::ChildLocation(answer.place->parent, internal::UniqueName());
    internal::MakeCgroup(location_);
    limits_.cpu.quota = quota;
    Limit(quota);
    // The largest share there is: a busy machine must not keep it from using its quota up.
    const bool v2 = location_.cpu->version == CgroupVersion::kV2;
    internal::WriteControlFile(location_.cpu->directory(), v2 ? "cpu.weight" : "cpu.shares",
                               v2 ? "10000" : "262144");
    Start();
  }
  ForeignService(const ForeignService&) = delete;
  ForeignService& operator=(const ForeignService&) = delete;
  ~ForeignService() {
    Kill();
    internal::RemoveCgroup(location_);
  }

  pid_t pid() const { return pid_; }
  std::uint16_t port() const { return port_; }
  const CgroupLocation& location() const { return location_; }
  std::string directory() const { return location_.cpu->directory(); }
  const ResolvedLimits& limits() const { return limits_; }

  void Limit(std::chrono::microseconds quota) {
    limits_.cpu.quota = quota;
    internal::WriteLimits(location_, limits_);
  }
  void Kill() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    pid_ = 0;
  }
  // In the same cgroup, on the same port.
  void Start() {
    const std::string flag = "--port=" + std::to_string(port_);
    const std::vector<std::string> join = internal::ProcsFiles(location_);
    pid_ = ::fork();
    if (pid_ == 0) Become(join, flag);
    const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (!TcpReady().Try({.host = "127.0.0.1", .port = port_}).empty()) {
      if (std::chrono::steady_clock::now() > give_up) throw std::runtime_error("never listened");
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
  }

 private:
  // A child of a program with threads may do little but system calls.
  [[noreturn]] static void Become(const std::vector<std::string>& join, const std::string& flag) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (const std::string& file : join) {
      const int fd = ::open(file.c_str(), O_WRONLY | O_CLOEXEC);
      if (fd < 0 || ::write(fd, "0", 1) != 1) ::_exit(126);
    }
    ::execl(BURN_SERVER, "burn_server", flag.c_str(), "--threads=8", nullptr);
    ::_exit(127);
  }

  const std::uint16_t port_ = internal::PickPort();
  CgroupLocation location_;
  ResolvedLimits limits_;
  pid_t pid_ = 0;
};

}  // namespace throttletest::test
