#include "cli/option_values.h"

#include "base/number.h"
#include "throttletest/base/duration.h"

namespace throttletest::cli {

void RefuseOption(const std::string& text) { throw Error(ErrorCode::kInvalidArgument, text); }

void RefuseEmptyValues(CLI::App& app) {
  for (CLI::Option* option : app.get_options()) {
    if (option->get_items_expected_max() == 0) continue;
    option->check([](const std::string& value) {
      return value.empty() ? std::string("the value is empty") : std::string();
    });
  }
}

std::chrono::nanoseconds DurationOption(const char* option, const std::string& text) {
  return Named(option, text, ParseDuration);
}

double NumberOption(const char* option, const std::string& text) {
  const auto number = internal::ParseDecimal(text);
  if (!number) {
    RefuseOption(fmt::format("{} \"{}\" is not a number: write, for example, 0.5", option, text));
  }
  return *number;
}

}  // namespace throttletest::cli
