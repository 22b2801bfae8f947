// Queue: what a queue depth takes, from the service time.
//
// One worker, admission by depth, a clock that starts when a job is submitted: the k-th admitted
// job ends no later than k x S after its submission. So a depth holds when depth x S_worst <=
// time-out.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace throttletest::internal {

// More than any admission lets in; and depth x service time stays within a duration.
inline constexpr int kDeepestQueue = 1'000'000;

// The deepest queue that holds. Units: >= 0; worst > 0.
std::int64_t DeepestQueue(std::chrono::nanoseconds worst, std::chrono::nanoseconds timeout);

// What would fit and with how much to spare: "A depth of 7 would fit: 7 x 31.4 s = 219.8 s leaves
// 20.2 s, less than one more job; 6 leaves 51.6 s." Of a depth that holds, what it leaves.
std::string QueueAdvice(std::int64_t depth, std::chrono::nanoseconds worst,
                        std::chrono::nanoseconds timeout);

}  // namespace throttletest::internal
