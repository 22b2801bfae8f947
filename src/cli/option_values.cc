#include "cli/option_values.h"

#include "base/number.h"
#include "throttletest/base/duration.h"

namespace throttletest::cli {

void RefuseOption(const std::string& text) { throw Error(ErrorCode::kInvalidArgument, text); }

namespace {

// A whole number as people write it. The library reads "010" as 8 and cuts what does not fit.
std::string WholeNumberFault(const std::string& value) {
  const auto number = internal::ParseInteger<std::int64_t>(value);
  if (!number) return fmt::format("\"{}\" is not a whole number that is possible here", value);
  const std::string plain = fmt::format("{}", *number);
  return value == plain ? std::string()
                        : fmt::format("\"{}\" is not plain: write {}", value, plain);
}

}  // namespace

void CheckValues(CLI::App& app) {
  for (CLI::Option* option : app.get_options()) {
    if (option->get_items_expected_max() == 0) continue;
    option->check([](const std::string& value) {
      return value.empty() ? std::string("the value is empty") : std::string();
    });
    const std::string type = option->get_type_name();
    if (type.starts_with("INT") || type.starts_with("UINT")) option->check(WholeNumberFault);
  }
}

void RefuseEmptyFlags(const std::vector<std::string>& words) {
  for (const std::string& word : words) {
    if (word.starts_with("--") && word.size() > 3 && word.ends_with('=')) {
      RefuseOption(fmt::format("{}: the value is empty", word.substr(0, word.size() - 1)));
    }
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
