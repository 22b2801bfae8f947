// Words and numbers that several messages of this area share.
#pragma once

#include <string>

namespace throttletest::internal {

// A number of CPUs with at least one decimal: "0.5", "5.0", "0.257".
std::string CpusText(double cpus);

}  // namespace throttletest::internal
