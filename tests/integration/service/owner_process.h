// OwnerProcess: an owner_program that a test starts, watches and kills.
#pragma once

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace throttletest::test {

// Started on construction. Not copyable; the destructor kills and collects it.
class OwnerProcess {
 public:
  explicit OwnerProcess(const std::vector<std::string>& arguments,
                        const std::map<std::string, std::string>& env = {}) {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) return;
    pid_ = ::fork();
    if (pid_ == 0) {
      ::dup2(ends[1], STDOUT_FILENO);
      for (const auto& [name, value] : env) ::setenv(name.c_str(), value.c_str(), 1);
      std::vector<char*> argv = {const_cast<char*>(OWNER_PROGRAM)};
      for (const std::string& word : arguments) argv.push_back(const_cast<char*>(word.c_str()));
      argv.push_back(nullptr);
      ::execv(OWNER_PROGRAM, argv.data());
      ::_exit(127);
    }
    ::close(ends[1]);
    out_ = ::fdopen(ends[0], "r");
  }
  OwnerProcess(const OwnerProcess&) = delete;
  OwnerProcess& operator=(const OwnerProcess&) = delete;
  ~OwnerProcess() {
    if (!collected_) {
      Signal(SIGKILL);
      Collect();
    }
    std::fclose(out_);
  }

  pid_t pid() const { return pid_; }
  void Signal(int signal) const { ::kill(pid_, signal); }

  // Waits for a line that begins with `word`, and returns what follows it. Absent: empty, its
  // output ended.
  std::string Await(const std::string& word) {
    while (ReadLine()) {
      if (lines_.back().rfind(word, 0) == 0) return lines_.back().substr(word.size()) + " ";
    }
    return {};
  }
  // Reads to the end of its output, which nobody else may hold open: a pipe to ctest must end with
  // the test process.
  void ReadToEnd() {
    while (ReadLine()) {
    }
  }
  // Its status as waitpid() gives it.
  int Collect() {
    int status = -1;
    while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
    collected_ = true;
    return status;
  }
  const std::vector<std::string>& lines() const { return lines_; }

 private:
  bool ReadLine() {
    std::array<char, 4096> buffer;
    if (std::fgets(buffer.data(), buffer.size(), out_) == nullptr) return false;
    std::string line = buffer.data();
    while (!line.empty() && line.back() == '\n') line.pop_back();
    lines_.push_back(std::move(line));
    return true;
  }

  pid_t pid_ = 0;
  FILE* out_ = nullptr;
  bool collected_ = false;
  std::vector<std::string> lines_;
};

// True once `condition` holds; polls for `patience`.
template <typename Condition>
bool Soon(const Condition& condition, std::chrono::seconds patience = std::chrono::seconds(10)) {
  const auto end = std::chrono::steady_clock::now() + patience;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return true;
}

}  // namespace throttletest::test
