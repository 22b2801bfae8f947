// A fixed amount of work, and memory that is really there while it is done.
//
// Work is counted in iterations and not in time: a loop that runs "for 20 ms" would count the time
// a CPU quota stopped it, and a throttled server would look as fast as a free one.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace burn_server {

// What one burn did and what it took.
//
// Units:  cpu is CPU time of the calling thread alone; wall is elapsed time, stops by a quota
// included. Absent: stopped is true when the burn was given up early; iterations then holds what
// was done.
struct BurnResult {
  std::uint64_t iterations = 0;
  std::uint64_t checksum = 0;
  std::chrono::nanoseconds cpu{0};
  std::chrono::nanoseconds wall{0};
  bool stopped = false;
};

// Runs `iterations` rounds of an integer mixing chain on `state` and returns the new state. Every
// round needs the result of the one before, so nothing can be left out or done in parallel.
// Mix(Mix(s, a), b) is Mix(s, a + b).
std::uint64_t Mix(std::uint64_t state, std::uint64_t iterations);

// The state every burn starts from.
inline constexpr std::uint64_t kMixSeed = 0x9E3779B97F4A7C15;

// Runs `iterations` rounds from kMixSeed; the checksum is the final state, hence a function of the
// number of iterations only. Looks at `stop` about ten times a millisecond and gives up when it is
// set.
BurnResult Burn(std::uint64_t iterations, const std::atomic<bool>& stop);

// CPU time of the calling thread (CLOCK_THREAD_CPUTIME_ID).
std::chrono::nanoseconds ThreadCpuTime();

// Memory with every page written, so that it is charged to the cgroup, until destruction.
//
// Units:  MiB; 0 maps nothing.
// Errors: std::bad_alloc when the kernel refuses the mapping. Past a memory limit the kernel kills
// the
//         process instead: that is what a memory limit does.
class HeldMemory {
 public:
  HeldMemory(std::size_t mib, const std::atomic<bool>& stop);
  HeldMemory(const HeldMemory&) = delete;
  HeldMemory& operator=(const HeldMemory&) = delete;
  ~HeldMemory();

  std::size_t bytes() const { return bytes_; }
  const void* data() const { return data_; }

 private:
  void* data_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace burn_server
