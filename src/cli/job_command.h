// `throttletest job`: one command that ends, under limits, and some budgets.
#pragma once

#include "cli/exit_status.h"
#include "cli/job_options.h"

namespace throttletest::cli {

// Runs it, prints the figures and one line per budget, writes the JSON. Nothing is left running,
// whatever happens. Errors: throttletest::Error, for main to map.
ExitStatus RunOneJob(const JobText& text);

}  // namespace throttletest::cli
