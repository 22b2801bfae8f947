// RunBinary: runs a program to its end and returns what it said, for tests that look at a whole
// program.
#pragma once

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

namespace throttletest::test {

struct RunOptions {
  std::map<std::string, std::string> env = {};
  std::chrono::milliseconds timeout = std::chrono::minutes(2);
  // Once stdout or stderr has this text, `signal` is sent. Absent: empty, never.
  std::string signal_on_text = {};
  int signal = SIGINT;
};

struct RunResult {
  int status = -1;  // exit status, or 128 + the signal that ended it
  std::string out;
  std::string err;
  bool timed_out = false;
};

namespace run_binary_internal {

[[noreturn]] inline void Exec(const std::vector<std::string>& command, const RunOptions& options,
                              int out, int err) {
  dup2(out, STDOUT_FILENO);
  dup2(err, STDERR_FILENO);
  const int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
  dup2(null, STDIN_FILENO);
  for (const auto& [name, value] : options.env) setenv(name.c_str(), value.c_str(), 1);
  std::vector<char*> argv;
  for (const std::string& word : command) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  execvp(argv[0], argv.data());
  _exit(127);
}

}  // namespace run_binary_internal

inline RunResult RunBinary(const std::vector<std::string>& command,
                           const RunOptions& options = {}) {
  std::array<int, 2> out{};
  std::array<int, 2> err{};
  if (pipe2(out.data(), O_CLOEXEC) != 0 || pipe2(err.data(), O_CLOEXEC) != 0) {
    throw std::runtime_error("pipe2 failed");
  }
  const pid_t pid = fork();
  if (pid == 0) run_binary_internal::Exec(command, options, out[1], err[1]);
  close(out[1]);
  close(err[1]);

  RunResult result;
  bool signalled = false;
  std::array<pollfd, 2> fds = {{{out[0], POLLIN, 0}, {err[0], POLLIN, 0}}};
  const auto deadline = std::chrono::steady_clock::now() + options.timeout;
  while (fds[0].fd >= 0 || fds[1].fd >= 0) {
    if (std::chrono::steady_clock::now() > deadline && !result.timed_out) {
      result.timed_out = true;
      kill(pid, SIGKILL);
    }
    poll(fds.data(), fds.size(), 100);
    for (std::size_t i = 0; i < fds.size(); ++i) {
      if (fds[i].fd < 0 || fds[i].revents == 0) continue;
      std::array<char, 4096> buffer;
      const ssize_t n = read(fds[i].fd, buffer.data(), buffer.size());
      if (n > 0) {
        (i == 0 ? result.out : result.err).append(buffer.data(), static_cast<std::size_t>(n));
      } else if (n == 0 || errno != EINTR) {
        close(fds[i].fd);
        fds[i].fd = -1;
      }
    }
    const std::string& text = options.signal_on_text;
    if (!text.empty() && !signalled &&
        (result.out.find(text) != std::string::npos ||
         result.err.find(text) != std::string::npos)) {
      signalled = true;
      kill(pid, options.signal);
    }
  }
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  result.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return result;
}

}  // namespace throttletest::test
