// The options of `throttletest run` that say what is sent and when.
#pragma once

#include <CLI/App.hpp>
#include <optional>
#include <string>
#include <vector>

#include "throttletest/measure/measure.h"

namespace throttletest::cli {

// As typed.
struct LoadText {
  std::optional<int> batch;
  std::string every, rate, poisson, seed, ramp, steps, duration, warm_up = "3s";
  std::vector<std::string> gets;
  std::string post, body, content_type = "application/octet-stream", timeout = "10s";
  std::vector<std::string> headers;
  std::vector<int> statuses;
};

// Declares the options on `app`, bound to `text`.
void DeclareLoadOptions(CLI::App& app, LoadText& text);

// Understands them all. Errors: kInvalidArgument naming the option.
Traffic ReadTraffic(const LoadText& text);

}  // namespace throttletest::cli
