// RunCommand: run another program to its end, with a deadline, and keep what it said.
//
//   CommandResult r = RunCommand({"docker", "version"}, {.deadline = 5s});
//   if (!r.ok()) throw Error(ErrorCode::kNoContainerRuntime, r.Describe());
#pragma once

#include <chrono>
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace throttletest::internal {

// How to run a command. The environment is the caller's, changed by `env` and `unset`.
struct CommandOptions {
  // The command is killed when it takes longer. Units: > 0.
  std::chrono::nanoseconds deadline = std::chrono::seconds(30);
  // Standard input: an open file that is read from its present offset, else the bytes.
  int stdin_fd = -1;  // Absent: -1
  std::string stdin_bytes{};
  std::map<std::string, std::string> env{};
  std::set<std::string> unset{};
  // Where the command runs. Absent: empty, where this process is.
  std::string directory{};
  // Both streams in `out`, in the order in which they were written.
  bool merge_streams = false;
  // How much of the END of each stream is kept. Units: bytes.
  std::size_t keep = std::size_t{8} << 20;
};

// How a command ended.
struct CommandResult {
  std::vector<std::string> argv;
  std::optional<int> exit_code;  // Absent: ended by a signal
  std::optional<int> signal;
  bool timed_out = false;  // it was killed at the deadline
  std::chrono::nanoseconds deadline{0};
  std::string out;
  std::string err;

  bool ok() const { return exit_code == 0 && !timed_out; }
  // "docker run ... failed with status 125: <last lines of stderr>". The command line is cut short,
  // so that the reason is not buried.
  std::string Describe() const;
};

// Runs argv[0] (looked up in PATH when it has no '/') with an argument vector, never a shell, in a
// process group of its own, so that a terminal's SIGINT cannot end a cleanup half way.
// Errors: kServiceStart when it cannot be run at all.
CommandResult RunCommand(const std::vector<std::string>& argv, const CommandOptions& options = {});

// The last `lines` non-empty lines, joined with "; ", at most 600 characters.
std::string LastLinesOnOne(const std::string& text, int lines);

}  // namespace throttletest::internal
