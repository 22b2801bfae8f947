#include "cli/run_command.h"

#include <fmt/format.h>

#include <utility>

#include "cli/interrupt.h"
#include "cli/measure_command.h"
#include "cli/progress.h"
#include "throttletest/service/service.h"

namespace throttletest::cli {

ExitStatus Run(const RunText& text) {
  RunSettings settings = Understand(text);
  const Interrupt interrupt;
  Progress progress(text.verdict.quiet);

  UseHostLock(settings.measure.lock, progress);
  progress.Step(fmt::format("starting {}", settings.spec.command.empty()
                                               ? settings.spec.image
                                               : settings.spec.command[0]));
  const std::unique_ptr<Service> service = StartService(settings.spec, interrupt.token());
  return MeasureAndJudge(*service, std::move(settings.measure), text.verdict.json, interrupt,
                         progress);
}

}  // namespace throttletest::cli
