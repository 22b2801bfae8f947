// The limits of a service as a list of names and texts, to be kept in files and compared.
#pragma once

#include <map>
#include <string>

#include "throttletest/cgroup/limits.h"

namespace throttletest::internal {

// "cpus" -> "0.5", "memory" -> "64 MiB". Absent: a limit that is not set has no entry, and a period
// or burst without a quota means nothing. Two lists are equal exactly when the limits are, however
// they were asked for (`cpus`, or `quota` and `period`).
using LimitTexts = std::map<std::string, std::string>;
LimitTexts LimitTextsOf(const ResolvedLimits& limits);

// "cpus 2 -> 0.5, memory none -> 64 MiB". Empty: the same.
std::string LimitChanges(const LimitTexts& before, const LimitTexts& after);

// "cpus 2, period 100 ms", or "none".
std::string LimitsText(const LimitTexts& limits);

}  // namespace throttletest::internal
