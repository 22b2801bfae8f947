#include "service/child_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <boost/asio/io_context.hpp>
#include <boost/process/v2/posix/default_launcher.hpp>
#include <boost/process/v2/process.hpp>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <mutex>
#include <thread>

#include "base/unique_fd.h"
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

// Hooks into Boost's launcher (1.81). Three of its ways are not good enough and are replaced here:
// a failing hook is reported by errno alone, so ChildSetup reports by itself and ends the child; a
// failing exec runs exit(), which would flush this process's streams and run its atexit handlers a
// second time; and its list of descriptors to keep leaves the gaps between them open.
class Hooks {
 public:
  Hooks(const SpawnPlan& plan, const ChildSetup& setup)
      : setup_(setup), arguments_(Pointers(plan.arguments)) {}

  template <typename Launcher, typename Path>
  bp::error_code on_setup(Launcher&, const Path&, const char* const*& command_line) const {
    command_line = arguments_.data();  // argument 0 as the user wrote it
    return {};
  }
  template <typename Launcher, typename Path>
  bp::error_code on_exec_setup(Launcher&, const Path&, const char* const*&) const {
    setup_.Run();
    return {};
  }
  template <typename... Args>
  void on_exec_error(Args&&...) const {
    ::_exit(127);
  }

 private:
  const ChildSetup& setup_;
  std::vector<const char*> arguments_;
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
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
      throw Error(ErrorCode::kServiceStart, fmt::format("no pipe: {}", std::strerror(errno)));
    }
    const UniqueFd report_read(ends[0]);
    UniqueFd report_write(ends[1]);
    const ChildSetup setup(plan.join_files, plan.output, report_write.get());
    const std::vector<const char*> environment = Pointers(plan.environment);
    bp::posix::default_launcher launcher;
    launcher.env = environment.data();
    bp::error_code error;
    process_ = launcher(context_.get_executor(), error, bp::filesystem::path(plan.program),
                        plan.arguments, Hooks(plan, setup));
    report_write.Reset();
    pid_ = launcher.pid;
    SetupFailure failure;
    const bool failed = ::read(report_read.get(), &failure, sizeof(failure)) ==
                        static_cast<ssize_t>(sizeof(failure));
    if (!failed && !error) return;
    // After a failed exec Boost leaves the child uncollected.
    if (error && pid_ > 0) ::waitpid(pid_, nullptr, 0);
    throw Error(ErrorCode::kServiceStart,
                fmt::format("cannot start \"{}\": {}", plan.program,
                            failed ? setup.Explain(failure) : std::strerror(error.value())));
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
