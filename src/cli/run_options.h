// The options of `throttletest run`, as typed and as understood.
#pragma once

#include <CLI/App.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "throttletest/measure/budget.h"
#include "throttletest/measure/measure.h"
#include "throttletest/service/service_spec.h"

namespace throttletest::cli {

// As typed. Texts, so that our own parsers give the messages.
struct RunText {
  std::string launcher = "auto";
  std::string image;
  std::optional<std::uint16_t> container_port;
  std::vector<std::string> env;
  bool start_unlimited = false;

  std::string cpus, quota, period, burst, cpuset, memory, memory_swap;

  std::string ready_http, ready_log, ready_timeout = "60s";

  std::optional<int> batch;
  std::string every = "1s", rate, duration = "20s", warm_up = "3s";
  std::string get, post, body, content_type = "application/octet-stream", timeout = "10s";
  std::vector<std::string> headers;
  std::vector<int> statuses;

  std::vector<std::string> budgets;
  std::string max_start_lag;
  int retries = 2;
  std::string json;
  bool quiet = false;
  std::vector<std::string> command;
};

// As understood.
struct RunSettings {
  ServiceSpec spec;
  LoadPlan plan = Batches(1);
  Request request;
  std::vector<Budget> budgets;
  MeasureOptions options;
};

// Declares the options on `app`, bound to `text`.
void DeclareRunOptions(CLI::App& app, RunText& text);

// Understands them all, before anything starts. Errors: kInvalidArgument naming the option.
RunSettings Understand(const RunText& text);

}  // namespace throttletest::cli
