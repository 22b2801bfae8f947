#include "cli/attach_command.h"

#include <fmt/format.h>

#include <utility>

#include "cli/interrupt.h"
#include "cli/measure_command.h"
#include "cli/progress.h"

namespace throttletest::cli {

ExitStatus Attach(const AttachText& text) {
  AttachSettings settings = Understand(text);
  const Interrupt interrupt;
  Progress progress(text.verdict.quiet);

  UseHostLock(settings.measure.lock, progress);
  progress.Step(fmt::format("attaching to {}", settings.spec.target.ToString()));
  const std::unique_ptr<Service> service = AttachService(settings.spec, interrupt.token());
  return MeasureAndJudge(*service, std::move(settings.measure), text.verdict.json, interrupt,
                         progress);
}

}  // namespace throttletest::cli
