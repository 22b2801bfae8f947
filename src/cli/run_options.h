// The options of `throttletest run`, as typed and as understood.
#pragma once

#include <CLI/App.hpp>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cli/load_options.h"
#include "cli/verdict_options.h"
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

  LoadText load;
  VerdictText verdict;
  std::vector<std::string> command;
};

// As understood.
struct RunSettings {
  ServiceSpec spec;
  MeasureSettings measure;
};

// What a service and a job have in common, declared on `app`: where it runs, and its limits.
void DeclareLauncherOptions(CLI::App& app, RunText& text);
void DeclareLimitOptions(CLI::App& app, RunText& text);
// Understands them. Errors: kInvalidArgument naming the option.
Limits ReadLimits(const RunText& text);
std::map<std::string, std::string> ReadEnv(const RunText& text);

// Declares the options on `app`, bound to `text`.
void DeclareRunOptions(CLI::App& app, RunText& text);

// Understands them all, before anything starts. Errors: kInvalidArgument naming the option.
RunSettings Understand(const RunText& text);

}  // namespace throttletest::cli
