#include "burn.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <new>

namespace burn_server {
namespace {

// Small enough to stop within a fraction of a millisecond, large enough that looking costs nothing.
constexpr std::uint64_t kIterationsBetweenLooks = 1U << 16U;

}  // namespace

std::uint64_t Mix(std::uint64_t state, std::uint64_t iterations) {
  for (std::uint64_t i = 0; i < iterations; ++i) {
    state ^= state >> 29U;
    state *= 0xBF58476D1CE4E5B9;
    state += 0x9E3779B97F4A7C15;
  }
  return state;
}

BurnResult Burn(std::uint64_t iterations, const std::atomic<bool>& stop) {
  using Clock = std::chrono::steady_clock;
  const auto wall_start = Clock::now();
  const auto cpu_start = ThreadCpuTime();
  BurnResult result;
  result.checksum = kMixSeed;
  while (result.iterations < iterations) {
    if (stop.load(std::memory_order_relaxed)) {
      result.stopped = true;
      break;
    }
    const auto step = std::min(iterations - result.iterations, kIterationsBetweenLooks);
    result.checksum = Mix(result.checksum, step);
    result.iterations += step;
  }
  result.cpu = ThreadCpuTime() - cpu_start;
  result.wall = Clock::now() - wall_start;
  return result;
}

std::chrono::nanoseconds ThreadCpuTime() {
  timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

HeldMemory::HeldMemory(std::size_t mib, const std::atomic<bool>& stop) : bytes_(mib << 20U) {
  if (bytes_ == 0) return;
  data_ = ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (data_ == MAP_FAILED) throw std::bad_alloc();
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  auto* bytes = static_cast<volatile unsigned char*>(data_);
  for (std::size_t at = 0; at < bytes_ && !stop.load(std::memory_order_relaxed); at += page) {
    bytes[at] = 1;
  }
}

HeldMemory::~HeldMemory() {
  if (data_ != nullptr) ::munmap(data_, bytes_);
}

}  // namespace burn_server
