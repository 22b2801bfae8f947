// Real disturbances of a measurement: each lasts as long as its object.
#pragma once

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <ctime>
#include <string>
#include <thread>
#include <vector>

#include "cgroup/writer.h"
#include "service/cgroup_place.h"
#include "throttletest/base/error.h"
#include "throttletest/cgroup/limits.h"

namespace throttletest::test {

// Processes that use all the CPU they get.
class BusyNeighbours {
 public:
  explicit BusyNeighbours(unsigned count) {
    for (unsigned i = 0; i < count; ++i) {
      const pid_t child = ::fork();
      if (child == 0) {
        ::prctl(PR_SET_PDEATHSIG, SIGKILL);
        for (;;) asm volatile("");  // work that the compiler may not remove
      }
      children_.push_back(child);
    }
  }
  BusyNeighbours(const BusyNeighbours&) = delete;
  BusyNeighbours& operator=(const BusyNeighbours&) = delete;
  ~BusyNeighbours() {
    for (const pid_t child : children_) {
      ::kill(child, SIGKILL);
      ::waitpid(child, nullptr, 0);
    }
  }

 private:
  std::vector<pid_t> children_;
};

// A child that stops this whole process, load generator included, once.
class StopsThisProcess {
 public:
  StopsThisProcess(std::chrono::milliseconds after, std::chrono::milliseconds length)
      : child_(::fork()) {
    if (child_ != 0) return;
    const pid_t parent = ::getppid();
    Sleep(after);
    ::kill(parent, SIGSTOP);
    Sleep(length);
    ::kill(parent, SIGCONT);
    ::_exit(0);
  }
  StopsThisProcess(const StopsThisProcess&) = delete;
  StopsThisProcess& operator=(const StopsThisProcess&) = delete;
  ~StopsThisProcess() { ::waitpid(child_, nullptr, 0); }

 private:
  // A child of a program with threads may do little but system calls.
  static void Sleep(std::chrono::milliseconds time) {
    const timespec wait{time.count() / 1000, (time.count() % 1000) * 1'000'000};
    ::nanosleep(&wait, nullptr);
  }
  const pid_t child_;
};

// This process in a cgroup with a CPU quota, kept busy by a thread so that the quota is used up.
class OwnQuota {
 public:
  // Errors: throttletest::Error when no cgroup can be made here.
  explicit OwnQuota(std::chrono::microseconds quota) {
    const internal::PlaceAnswer answer = internal::FindCgroupPlace(internal::CgroupNeeds{});
    if (!answer.place) throw Error(answer.code, answer.lack);
    const CgroupLocation& parent = answer.place->parent;
    if (!answer.place->enable.empty()) {
      internal::EnableControllers(parent.unified->directory(), answer.place->enable);
    }
    home_.cpu = LocateCgroup(::getpid()).cpu;
    limited_ = internal::ChildLocation(CgroupLocation{.cpu = parent.cpu},
                                       "throttletest-" + std::to_string(::getpid()) + "-own");
    internal::MakeCgroup(limited_);
    ResolvedLimits limits;
    limits.cpu.quota = quota;
    internal::WriteLimits(limited_, limits);
    // The largest share there is: a busy machine must not keep it from using its quota up.
    const bool v2 = limited_.cpu->version == CgroupVersion::kV2;
    internal::WriteControlFile(limited_.cpu->directory(), v2 ? "cpu.weight" : "cpu.shares",
                               v2 ? "10000" : "262144");
    internal::AddProcess(limited_, ::getpid());
    work_ = std::thread([this] {
      while (!done_) {
      }
    });
  }
  OwnQuota(const OwnQuota&) = delete;
  OwnQuota& operator=(const OwnQuota&) = delete;
  ~OwnQuota() {
    done_ = true;
    work_.join();
    internal::AddProcess(home_, ::getpid());
    internal::RemoveCgroup(limited_);
  }

  const std::string& path() const { return limited_.cpu->relative_path; }

 private:
  CgroupLocation home_;
  CgroupLocation limited_;
  std::atomic<bool> done_{false};
  std::thread work_;
};

}  // namespace throttletest::test
