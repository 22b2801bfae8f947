// `throttletest attach`: a service that runs already, one load, some budgets.
#pragma once

#include "cli/attach_options.h"
#include "cli/exit_status.h"

namespace throttletest::cli {

// Measures, prints the figures and one line per budget, writes the JSON. The service is left as it
// was. Errors: throttletest::Error, for main to map.
ExitStatus Attach(const AttachText& text);

}  // namespace throttletest::cli
