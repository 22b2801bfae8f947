// `throttletest clean`: removes what test processes that were killed have left.
#pragma once

#include "cli/exit_status.h"

namespace throttletest::cli {

struct CleanOptions {
  bool dry_run = false;  // list only
  bool json = false;
};

// Prints each thing and what became of it. Status: 0 when nothing is left, else "cannot measure";
// with dry_run nothing is removed, so it is 0 only when there was nothing.
ExitStatus Clean(const CleanOptions& options);

}  // namespace throttletest::cli
