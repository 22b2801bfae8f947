// What the client programs of the benchmark share: their options, their clock and their one line of
// JSON. No library, so that the floor also builds alone.
#pragma once

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string>
#include <vector>

namespace throttletest::bench {

// `size` requests every `interval_us` for `duration_s`: --port P [--size N] [--interval-us T] ...
struct Options {
  int port = 0;
  int size = 1;
  double interval_us = 1e6;
  double duration_s = 10;
  int connections = 64;  // opened before the first instant; at least `size` are
  std::string path = "/";

  std::int64_t interval_ns() const { return static_cast<std::int64_t>(interval_us * 1e3 + 0.5); }
  // Batch b exists while b x interval < duration.
  std::int64_t batches() const {
    const auto duration_ns = static_cast<std::int64_t>(duration_s * 1e9 + 0.5);
    return (duration_ns + interval_ns() - 1) / interval_ns();
  }
  std::int64_t planned() const { return batches() * size; }
};

[[noreturn]] inline void Die(const std::string& why) {
  std::fprintf(stderr, "%s\n", why.c_str());
  std::exit(1);
}
// With what errno says.
[[noreturn]] inline void DieOfCall(const std::string& call) {
  Die(call + ": " + std::strerror(errno));
}

inline Options ParseOptions(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; i += 2) {
    const std::string name = argv[i];
    if (i + 1 == argc) Die("option \"" + name + "\" needs a value");
    const char* value = argv[i + 1];
    if (name == "--port") {
      options.port = std::atoi(value);
    } else if (name == "--size") {
      options.size = std::atoi(value);
    } else if (name == "--interval-us") {
      options.interval_us = std::atof(value);
    } else if (name == "--duration-s") {
      options.duration_s = std::atof(value);
    } else if (name == "--connections") {
      options.connections = std::atoi(value);
    } else if (name == "--path") {
      options.path = value;
    } else {
      Die("no option \"" + name +
          "\"; there are --port --size --interval-us --duration-s --connections --path");
    }
  }
  if (options.port < 1 || options.port > 65535) Die("--port must be 1..65535");
  if (options.size < 1) Die("--size must be at least 1");
  if (options.interval_us < 0.001) Die("--interval-us must be at least 0.001");
  options.connections = std::max(options.connections, options.size);
  return options;
}

inline std::int64_t ReadClock(clockid_t clock) {
  timespec t{};
  clock_gettime(clock, &t);
  return t.tv_sec * 1'000'000'000 + t.tv_nsec;
}
inline std::int64_t Now() { return ReadClock(CLOCK_MONOTONIC); }

// When a request was written, from the instant of the first batch; `batch` says when it should be.
struct Sent {
  std::int64_t ns;
  std::int64_t batch;
};

struct Outcome {
  std::int64_t answered = 0;
  std::int64_t cpu_ns = 0;   // of the threads that send and read, from the first instant on
  std::vector<Sent> writes;  // one for each request that was written
};

// Nearest rank. Absent: 0 when there are none. Sorts as far as it has to.
inline double PercentileUs(std::vector<std::int64_t>& values, int percent) {
  if (values.empty()) return 0;
  const std::size_t rank = (values.size() * static_cast<std::size_t>(percent) + 99) / 100;
  const auto at = values.begin() + static_cast<std::ptrdiff_t>(std::max<std::size_t>(rank, 1) - 1);
  std::nth_element(values.begin(), at, values.end());
  return static_cast<double>(*at) / 1e3;
}

// One line of JSON. `lag` is written - intended of every request, `first` that of the first one of
// every batch, `spread` the time from the first to the last write of a batch. Units: us.
inline void Print(const char* client, const Options& options, const Outcome& outcome) {
  const auto batches = static_cast<std::size_t>(options.batches());
  std::vector<std::int64_t> lags;
  std::vector<std::int64_t> begin(batches, INT64_MAX);
  std::vector<std::int64_t> end(batches, INT64_MIN);
  lags.reserve(outcome.writes.size());
  for (const Sent& sent : outcome.writes) {
    const std::int64_t lag = sent.ns - sent.batch * options.interval_ns();
    lags.push_back(lag);
    begin[static_cast<std::size_t>(sent.batch)] =
        std::min(begin[static_cast<std::size_t>(sent.batch)], lag);
    end[static_cast<std::size_t>(sent.batch)] =
        std::max(end[static_cast<std::size_t>(sent.batch)], lag);
  }
  std::vector<std::int64_t> first;
  std::vector<std::int64_t> spread;
  for (std::size_t b = 0; b < batches; ++b) {
    if (begin[b] == INT64_MAX) continue;
    first.push_back(begin[b]);
    spread.push_back(end[b] - begin[b]);
  }
  const double requests = static_cast<double>(std::max<std::int64_t>(outcome.answered, 1));
  std::printf(
      "{\"client\": \"%s\", \"size\": %d, \"interval_us\": %g, \"connections\": %d, "
      "\"planned\": %lld, \"sent\": %lld, \"answered\": %lld, \"cpu_us\": %.3f, "
      "\"lag_p50_us\": %.1f, \"lag_p99_us\": %.1f, \"lag_max_us\": %.1f, "
      "\"first_p50_us\": %.1f, \"first_p99_us\": %.1f, "
      "\"spread_p50_us\": %.1f, \"spread_p99_us\": %.1f}\n",
      client, options.size, options.interval_us, options.connections,
      static_cast<long long>(options.planned()), static_cast<long long>(outcome.writes.size()),
      static_cast<long long>(outcome.answered),
      static_cast<double>(outcome.cpu_ns) / 1e3 / requests, PercentileUs(lags, 50),
      PercentileUs(lags, 99), PercentileUs(lags, 100), PercentileUs(first, 50),
      PercentileUs(first, 99), PercentileUs(spread, 50), PercentileUs(spread, 99));
}

}  // namespace throttletest::bench
