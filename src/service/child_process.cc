#include "service/child_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <boost/asio/io_context.hpp>
#include <boost/process/v2/process.hpp>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "base/unique_fd.h"
#include "service/cgroup_fork.h"
#include "service/child_setup.h"
#include "service/launcher_thread.h"
#include "throttletest/base/error.h"

namespace throttletest::internal {
namespace {

namespace asio = boost::asio;
namespace bp = boost::process::v2;

// A null-terminated array for exec.
std::vector<const char*> Pointers(const std::vector<std::string>& words) {
  std::vector<const char*> pointers;
  pointers.reserve(words.size() + 1);
  for (const std::string& word : words) pointers.push_back(word.c_str());
  pointers.push_back(nullptr);
  return pointers;
}

struct Pipe {
  Pipe() {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
      throw Error(ErrorCode::kServiceStart, fmt::format("no pipe: {}", std::strerror(errno)));
    }
    read = UniqueFd(ends[0]);
    write = UniqueFd(ends[1]);
  }
  UniqueFd read;
  UniqueFd write;
};

// A launcher as Boost's process takes one. Its own (1.81) cannot fork into a cgroup, and three of
// its ways are not good enough: a failure before exec is reported by errno alone; a failing exec
// runs exit(), which would flush this process's streams and run its atexit handlers a second time;
// and its list of descriptors to keep leaves the gaps between them open.
class Launcher {
 public:
  explicit Launcher(const SpawnPlan& plan)
      : plan_(plan),
        arguments_(Pointers(plan.arguments)),
        environment_(Pointers(plan.environment)) {}

  // The child, which runs the program. Errors: kServiceStart, and what `move` throws; the child is
  // then collected.
  template <typename Executor>
  bp::basic_process<Executor> operator()(Executor executor) {
    Pipe report;
    std::optional<Pipe> moved;
    if (plan_.move) moved.emplace();
    const ChildSetup setup({.join_files = plan_.join_files,
                            .output = plan_.output,
                            .report = report.write.get(),
                            .moved = moved ? moved->read.get() : -1,
                            .moved_writer = moved ? moved->write.get() : -1});
    const pid_t child = Fork(setup);
    report.write.Reset();
    try {
      if (moved) {
        plan_.move(child);
        [[maybe_unused]] const ssize_t written = ::write(moved->write.get(), "m", 1);
      }
      RequireSetUp(setup, report.read.get());
    } catch (...) {
      ::kill(child, SIGKILL);
      ::waitpid(child, nullptr, 0);
      throw;
    }
    return bp::basic_process<Executor>(executor, child);
  }

 private:
  pid_t Fork(const ChildSetup& setup) const {
    const UniqueFd cgroup(plan_.cgroup.empty()
                              ? -1
                              : ::open(plan_.cgroup.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    bool entered = false;
    const pid_t child = ForkInto(cgroup.get(), entered);
    if (child == 0) {
      setup.Run(entered);
      setup.Exec(plan_.program.c_str(), arguments_.data(), environment_.data());
    }
    if (child > 0) return child;
    throw Error(ErrorCode::kServiceStart,
                fmt::format("cannot start \"{}\": fork: {}", plan_.program, std::strerror(errno)));
  }

  // Exec closes the pipe without a word; a failure is written into it.
  void RequireSetUp(const ChildSetup& setup, int report) const {
    SetupFailure failure;
    ssize_t got = 0;
    while ((got = ::read(report, &failure, sizeof(failure))) < 0 && errno == EINTR) {
    }
    if (got != static_cast<ssize_t>(sizeof(failure))) return;
    throw Error(ErrorCode::kServiceStart,
                fmt::format("cannot start \"{}\": {}", plan_.program, setup.Explain(failure)));
  }

  const SpawnPlan& plan_;
  std::vector<const char*> arguments_;
  std::vector<const char*> environment_;
};

class BoostChild final : public ChildProcess {
 public:
  explicit BoostChild(const SpawnPlan& plan) : process_(context_) {
    RunOnLauncherThread([&] { Start(plan); });
  }
  // Boost's destructor behaviour is not something to rely on: ended and collected here.
  ~BoostChild() override {
    Kill();
    Wait(std::chrono::seconds(10));
    process_.detach();
  }

  pid_t pid() const override { return pid_; }

  std::optional<ProcessEnd> End() const override {
    const std::lock_guard lock(mutex_);
    return Look();
  }

  std::optional<ProcessEnd> Wait(std::chrono::nanoseconds timeout) const override {
    const auto end = std::chrono::steady_clock::now() + timeout;
    std::chrono::nanoseconds pause = std::chrono::microseconds(500);
    while (true) {
      if (auto ended = End()) return ended;
      if (std::chrono::steady_clock::now() >= end) return std::nullopt;
      std::this_thread::sleep_for(pause);
      pause = std::min<std::chrono::nanoseconds>(2 * pause, std::chrono::milliseconds(10));
    }
  }

  void Kill() override {
    const std::lock_guard lock(mutex_);
    if (Look()) return;
    bp::error_code ignored;
    process_.terminate(ignored);
  }

 private:
  void Start(const SpawnPlan& plan) {
    Launcher launcher(plan);
    process_ = launcher(context_.get_executor());
    pid_ = process_.id();
  }

  // Called with the lock held.
  std::optional<ProcessEnd> Look() const {
    if (end_) return end_;
    bp::error_code error;
    if (process_.running(error)) return std::nullopt;
    ProcessEnd end;
    if (!error) {
      const int status = process_.native_exit_code();
      if (WIFEXITED(status)) end.exit_code = WEXITSTATUS(status);
      if (WIFSIGNALED(status)) end.signal = WTERMSIG(status);
    }
    end_ = end;
    return end_;
  }

  mutable std::mutex mutex_;
  asio::io_context context_;
  mutable bp::process process_;
  mutable std::optional<ProcessEnd> end_;
  pid_t pid_ = 0;
};

}  // namespace

std::unique_ptr<ChildProcess> ChildProcess::Spawn(const SpawnPlan& plan) {
  return std::make_unique<BoostChild>(plan);
}

}  // namespace throttletest::internal
