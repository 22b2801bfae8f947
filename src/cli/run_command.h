// `throttletest run`: one service, one load, some budgets.
#pragma once

#include "cli/exit_status.h"
#include "cli/run_options.h"

namespace throttletest::cli {

// Measures, prints the figures and one line per budget, writes the JSON. Nothing is left running,
// whatever happens. Errors: throttletest::Error, for main to map.
ExitStatus Run(const RunText& text);

}  // namespace throttletest::cli
