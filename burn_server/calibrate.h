// How many iterations of the burn loop make one millisecond of CPU time on this machine.
#pragma once

#include <cstdint>
#include <vector>

namespace burn_server {

// One calibration: the rate of each slice, in the order measured.
//
// Units: iterations per millisecond of CPU time of this thread. CPU time and not elapsed time, so
// that
//        neither a quota nor a busy neighbour can make the machine look slow.
struct Calibration {
  std::vector<std::uint64_t> rates;

  // Absent: 0 without slices.
  std::uint64_t Median() const;
  std::uint64_t Best() const;
  std::uint64_t Worst() const;
};

// Burns `slices` times about `slice_ms` milliseconds of CPU time.
Calibration Calibrate(int slices, int slice_ms);

}  // namespace burn_server
