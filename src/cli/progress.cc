#include "cli/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include "cli/output.h"

namespace throttletest::cli {

Progress::Progress(bool quiet) : quiet_(quiet), terminal_(isatty(STDERR_FILENO) == 1) {}

Progress::~Progress() { Done(); }

void Progress::Step(const std::string& text) {
  if (quiet_) return;
  if (terminal_) {
    Tell(fmt::format("\r\033[K{}", text));
    open_line_ = true;
  } else {
    Tell(text + "\n");
  }
}

void Progress::Update(const MeasureProgress& progress) {
  if (terminal_) {
    Step(fmt::format("{}: {} of {} requests", progress.phase, progress.done, progress.planned));
  } else if (phase_ != progress.phase) {
    phase_ = progress.phase;
    Step(fmt::format("{}: {} requests planned", progress.phase, progress.planned));
  }
}

void Progress::Running(std::chrono::seconds so_far) {
  if (terminal_) Step(fmt::format("running for {} s", so_far.count()));
}

void Progress::Done() {
  if (!open_line_) return;
  Tell("\r\033[K");
  open_line_ = false;
}

}  // namespace throttletest::cli
