// The command line of burn_server.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace burn_server {

enum class Command { kServe, kCalibrate };

// Absent: workers empty means as many as threads; queue_depth empty means any number may wait;
//         iters_per_ms empty means measure at start.
struct Options {
  Command command = Command::kServe;
  std::string host = "127.0.0.1";
  std::uint16_t port = 8080;
  std::size_t threads = 8;
  std::optional<std::size_t> workers;
  std::optional<std::size_t> queue_depth;
  std::optional<std::uint64_t> iters_per_ms;
  std::string iters_source;  // "--iters-per-ms" or "ITERS_PER_MS", whichever gave the value
  bool json = false;

  std::size_t Slots() const { return workers.value_or(threads); }
};

// What to do instead of running: text to print and the status to end with (0 help, 2 usage).
struct EarlyExit {
  int status = 0;
  std::string text;
};

struct ParsedCommandLine {
  Options options;
  std::optional<EarlyExit> exit;
};

// Units:  arguments without the program name.
// Absent: env_iters_per_ms is nullptr when ITERS_PER_MS is not set; an option wins over it.
// Errors: none; a usage error is an EarlyExit with one line.
ParsedCommandLine ParseCommandLine(std::vector<std::string> arguments,
                                   const char* env_iters_per_ms);

}  // namespace burn_server
