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
  std::string expect_body, unix_path, tls_ca, tls_name;
  bool tls = false, tls_insecure = false;
  std::vector<int> statuses;
};

// Declares the options on `app`, bound to `text`.
void DeclareLoadOptions(CLI::App& app, LoadText& text);

// Puts where the service listens and how it is spoken to into `options`. Errors: kInvalidArgument
// for an option that would have no effect.
void ReadEndpoint(const LoadText& text, MeasureOptions& options);

// Understands the others. Errors: kInvalidArgument naming the option.
Traffic ReadTraffic(const LoadText& text);

}  // namespace throttletest::cli
