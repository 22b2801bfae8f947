// Values of options as typed: every message names the option and quotes the value.
#pragma once

#include <fmt/format.h>

#include <CLI/App.hpp>
#include <chrono>
#include <string>
#include <vector>

#include "throttletest/base/error.h"

namespace throttletest::cli {

[[noreturn]] void RefuseOption(const std::string& text);

// Makes every option of `app` refuse an empty value - an unset variable of a CI script must not
// read as "not given" - and numbers that are read as others than they look. Call it after the last
// option is declared.
void CheckValues(CLI::App& app);
// The same for "--flag=", which the parser takes for the flag alone. Errors: kInvalidArgument.
void RefuseEmptyFlags(const std::vector<std::string>& words);

// Runs a parser and puts the option's name before its message.
template <typename Parse>
auto Named(const char* option, const std::string& text, Parse parse) {
  try {
    return parse(text);
  } catch (const Error& e) {
    RefuseOption(fmt::format("{} {}: {}", option, text, e.what()));
  }
}

// Errors (both): kInvalidArgument.
std::chrono::nanoseconds DurationOption(const char* option, const std::string& text);
double NumberOption(const char* option, const std::string& text);

}  // namespace throttletest::cli
