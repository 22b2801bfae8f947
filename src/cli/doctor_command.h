// `throttletest doctor`: what this machine can and cannot do.
#pragma once

#include "cli/exit_status.h"

namespace throttletest::cli {

// Prints the findings as text or JSON. Status: 0 when at least one launcher works, else "cannot
// measure".
ExitStatus Doctor(bool json);

}  // namespace throttletest::cli
