#include "service/subprocess.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/process/v2/process.hpp>
#include <boost/process/v2/stdio.hpp>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "base/unique_fd.h"
#include "service/program.h"
#include "throttletest/base/duration.h"
#include "throttletest/base/error.h"

namespace throttletest::internal {
namespace {

namespace asio = boost::asio;
namespace process = boost::process::v2;
using boost::system::error_code;

[[noreturn]] void ThrowErrno(const std::string& what) {
  throw Error(ErrorCode::kServiceStart, what + ": " + std::strerror(errno));
}

// A descriptor above the standard three: the child's dup2() must not overwrite it when the caller
// runs with a closed standard stream.
UniqueFd AboveStandard(int fd) {
  UniqueFd given(fd);
  UniqueFd moved(::fcntl(fd, F_DUPFD_CLOEXEC, 3));
  if (!moved.valid()) ThrowErrno("cannot duplicate a descriptor");
  return moved;
}

struct Pipe {
  UniqueFd read;
  UniqueFd write;
};

Pipe MakePipe() {
  int fds[2];
  if (::pipe2(fds, O_CLOEXEC) != 0) ThrowErrno("cannot make a pipe");
  UniqueFd read = AboveStandard(fds[0]);
  return {std::move(read), AboveStandard(fds[1])};
}

// A file, not a pipe: a child that ends without reading its input then cannot raise SIGPIPE.
UniqueFd InputOf(const CommandOptions& options) {
  if (options.stdin_fd >= 0) return AboveStandard(::dup(options.stdin_fd));
  if (options.stdin_bytes.empty()) return AboveStandard(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  UniqueFd file = AboveStandard(::memfd_create("throttletest-stdin", MFD_CLOEXEC));
  std::string_view rest = options.stdin_bytes;
  while (!rest.empty()) {
    const ssize_t n = ::write(file.get(), rest.data(), rest.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) ThrowErrno("cannot store the input of a command");
    rest.remove_prefix(static_cast<std::size_t>(n));
  }
  if (::lseek(file.get(), 0, SEEK_SET) != 0) ThrowErrno("cannot rewind the input of a command");
  return file;
}

// Environment and process attributes of the child; an initializer of Boost.Process.
class ChildSetup {
 public:
  explicit ChildSetup(const CommandOptions& options) {
    for (char** entry = ::environ; entry != nullptr && *entry != nullptr; ++entry) {
      const std::string_view text = *entry;
      const std::string name(text.substr(0, text.find('=')));
      if (options.env.count(name) == 0 && options.unset.count(name) == 0)
        strings_.emplace_back(text);
    }
    for (const auto& [name, value] : options.env)
      strings_.push_back(fmt::format("{}={}", name, value));
    for (const std::string& text : strings_) pointers_.push_back(text.c_str());
    pointers_.push_back(nullptr);
    directory_ = options.directory;
  }

  error_code on_setup(process::posix::default_launcher& launcher, const process::filesystem::path&,
                      const char* const*&) {
    launcher.env = pointers_.data();
    return {};
  }

  // Between fork and exec: system calls only.
  error_code on_exec_setup(process::posix::default_launcher&, const process::filesystem::path&,
                           const char* const*&) {
    if (!directory_.empty() && ::chdir(directory_.c_str()) != 0) {
      return {errno, boost::system::system_category()};
    }
    ::setpgid(0, 0);
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent_) ::_exit(127);  // it died before the call above
    sigset_t none;
    sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    ::signal(SIGPIPE, SIG_DFL);
    // Descriptors that the test opened without O_CLOEXEC: a lock or a listening socket must not
    // live on in the child. Kernels before 5.11 do not know the call.
    constexpr unsigned kSetCloexec = 4;
    ::syscall(SYS_close_range, 3U, ~0U, kSetCloexec);
    return {};
  }

 private:
  const pid_t parent_ = ::getpid();
  std::vector<std::string> strings_;
  std::vector<const char*> pointers_;
  std::string directory_;
};

// Reads one stream to its end and keeps the last `keep` bytes.
class StreamReader {
 public:
  StreamReader(asio::io_context& io, const UniqueFd& fd, std::size_t keep,
               std::function<void()> done)
      : stream_(io, ::fcntl(fd.get(), F_DUPFD_CLOEXEC, 3)), keep_(keep), done_(std::move(done)) {
    Next();
  }
  void Cancel() {
    error_code ignored;
    stream_.cancel(ignored);
  }
  std::string Take() {
    Shrink(keep_);
    return std::move(text_);
  }

 private:
  void Next() {
    stream_.async_read_some(asio::buffer(buffer_), [this](error_code ec, std::size_t n) {
      text_.append(buffer_.data(), n);
      if (text_.size() > 2 * keep_ + buffer_.size()) Shrink(keep_);
      if (!ec) return Next();
      done_();
    });
  }
  void Shrink(std::size_t size) {
    if (text_.size() > size) text_.erase(0, text_.size() - size);
  }

  asio::posix::stream_descriptor stream_;
  std::size_t keep_;
  std::function<void()> done_;
  std::string text_;
  std::array<char, 16384> buffer_{};
};

void RecordStatus(int status, CommandResult& result) {
  if (WIFEXITED(status)) result.exit_code = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) result.signal = WTERMSIG(status);
}

}  // namespace

CommandResult RunCommand(const std::vector<std::string>& argv, const CommandOptions& options) {
  CommandResult result;
  result.argv = argv;
  result.deadline = options.deadline;
  if (argv.empty()) throw Error(ErrorCode::kServiceStart, "cannot run a command without a name");
  const std::string program = RequireProgram(argv[0]);

  asio::io_context io;
  const UniqueFd in = InputOf(options);
  Pipe out = MakePipe();
  Pipe err = MakePipe();
  const int err_fd = options.merge_streams ? out.write.get() : err.write.get();
  ChildSetup setup(options);
  const std::vector<std::string> args(argv.begin() + 1, argv.end());
  std::optional<process::process> child;
  try {
    child.emplace(io, program, args,
                  process::process_stdio{{in.get()}, {out.write.get()}, {err_fd}}, setup);
  } catch (const boost::system::system_error& e) {
    throw Error(ErrorCode::kServiceStart,
                fmt::format("cannot run \"{}\": {}", program, e.code().message()));
  }
  out.write.Reset();
  err.write.Reset();

  // A grandchild may keep the streams open for ever: what it writes later is not waited for.
  asio::steady_timer drain(io);
  int open_streams = 2;
  const auto stream_done = [&] {
    if (--open_streams == 0) drain.cancel();
  };
  StreamReader out_reader(io, out.read, options.keep, stream_done);
  StreamReader err_reader(io, err.read, options.keep, stream_done);
  asio::steady_timer timer(io, options.deadline);
  timer.async_wait([&](error_code ec) {
    if (ec) return;
    result.timed_out = true;
    ::kill(-child->id(), SIGKILL);
    ::kill(child->id(), SIGKILL);
  });
  child->async_wait([&](error_code, int) {
    timer.cancel();
    if (open_streams == 0) return;
    drain.expires_after(std::chrono::milliseconds(300));
    drain.async_wait([&](error_code) {
      out_reader.Cancel();
      err_reader.Cancel();
    });
  });
  io.run();
  RecordStatus(child->native_exit_code(), result);
  result.out = out_reader.Take();
  result.err = err_reader.Take();
  return result;
}

std::string LastLinesOnOne(const std::string& text, int lines) {
  std::string out;
  std::string_view rest = text;
  while (lines > 0 && !rest.empty()) {
    const auto cut = rest.find_last_of('\n');
    const std::string_view line = Trim(cut == std::string_view::npos ? rest : rest.substr(cut + 1));
    rest = cut == std::string_view::npos ? std::string_view() : rest.substr(0, cut);
    if (line.empty()) continue;
    out.insert(0, out.empty() ? std::string(line) : fmt::format("{}; ", line));
    --lines;
  }
  constexpr std::size_t kMost = 600;
  if (out.size() > kMost) out = "..." + out.substr(out.size() - kMost);
  return out;
}

std::string CommandResult::Describe() const {
  std::string command = fmt::format("{}", fmt::join(argv, " "));
  constexpr std::size_t kMost = 120;
  if (command.size() > kMost) command = command.substr(0, kMost) + "...";
  std::string how = "ended";
  if (timed_out) {
    how = "did not end within " + ToString(deadline);
  } else if (signal) {
    how = fmt::format("was killed by signal {}", *signal);
  } else if (exit_code) {
    how = fmt::format("{} with status {}", *exit_code == 0 ? "ended" : "failed", *exit_code);
  }
  const std::string reason = LastLinesOnOne(err.empty() ? out : err, 5);
  return command + " " + how + (reason.empty() ? "" : ": " + reason);
}

}  // namespace throttletest::internal
