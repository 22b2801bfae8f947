#include "cli/run_options.h"

#include <fmt/format.h>

#include "base/number.h"
#include "base/text.h"
#include "throttletest/base/duration.h"
#include "throttletest/base/error.h"
#include "throttletest/report/json.h"

namespace throttletest::cli {
namespace {

[[noreturn]] void Refuse(const std::string& text) {
  throw Error(ErrorCode::kInvalidArgument, text);
}

// Runs a parser and puts the option's name before its message.
template <typename Parse>
auto Named(const char* option, const std::string& text, Parse parse) {
  try {
    return parse(text);
  } catch (const Error& e) {
    Refuse(fmt::format("{} {}: {}", option, text, e.what()));
  }
}

std::chrono::nanoseconds Duration(const char* option, const std::string& text) {
  return Named(option, text, ParseDuration);
}

std::optional<std::chrono::microseconds> Microseconds(const char* option, const std::string& text) {
  if (text.empty()) return std::nullopt;
  const auto ns = Duration(option, text);
  const auto us = std::chrono::duration_cast<std::chrono::microseconds>(ns);
  if (us != ns) Refuse(fmt::format("{} {}: the kernel takes whole microseconds", option, text));
  return us;
}

double Number(const char* option, const std::string& text) {
  const auto number = internal::ParseDecimal(text);
  if (!number)
    Refuse(fmt::format("{} \"{}\" is not a number: write, for example, 0.5", option, text));
  return *number;
}

Limits ReadLimits(const RunText& text) {
  Limits limits;
  if (!text.cpus.empty()) limits.cpus = Number("--cpus", text.cpus);
  limits.quota = Microseconds("--quota", text.quota);
  limits.period = Microseconds("--period", text.period);
  limits.burst = Microseconds("--burst", text.burst);
  limits.cpuset = text.cpuset;
  if (!text.memory.empty()) limits.memory = Named("--memory", text.memory, ParseByteSize);
  if (!text.memory_swap.empty()) {
    limits.memory_swap = Named("--memory-swap", text.memory_swap, ParseByteSize);
  }
  return limits;
}

Readiness ReadReadiness(const RunText& text) {
  if (!text.ready_http.empty() && !text.ready_log.empty()) {
    Refuse("give --ready-http or --ready-log, not both");
  }
  Readiness ready = !text.ready_http.empty()  ? HttpReady(text.ready_http)
                    : !text.ready_log.empty() ? LogLineReady(text.ready_log)
                                              : TcpReady();
  return ready.Within(Duration("--ready-timeout", text.ready_timeout));
}

ServiceSpec ReadSpec(const RunText& text) {
  if (text.command.empty() && text.image.empty()) {
    Refuse(
        "nothing to run: put the service's command after --, as in: -- burn_server --port={port}");
  }
  ServiceSpec spec{.command = text.command,
                   .limits = ReadLimits(text),
                   .ready = ReadReadiness(text),
                   .image = text.image};
  spec.launcher = ParseLauncher(text.launcher);
  spec.container_port = text.container_port;
  spec.start_unlimited = text.start_unlimited;
  for (const std::string& pair : text.env) {
    const std::size_t equals = pair.find('=');
    if (equals == std::string::npos || equals == 0) {
      Refuse(fmt::format("--env \"{}\" is not NAME=VALUE", pair));
    }
    spec.env[pair.substr(0, equals)] = pair.substr(equals + 1);
  }
  return spec;
}

LoadPlan ReadPlan(const RunText& text) {
  if (text.batch && !text.rate.empty()) Refuse("give --batch or --rate, not both");
  if (!text.batch && text.rate.empty())
    Refuse("no load: give --batch N (with --every) or --rate N");
  const LoadPlan arrivals = text.batch ? Batches(*text.batch).Every(Duration("--every", text.every))
                                       : ConstantRate(Rate(Number("--rate", text.rate)));
  return arrivals.For(Duration("--duration", text.duration))
      .WarmUp(Duration("--warmup", text.warm_up));
}

Request ReadRequest(const RunText& text) {
  if (text.get.empty() == text.post.empty()) Refuse("give --get TARGET or --post TARGET");
  if (!text.body.empty() && text.post.empty()) Refuse("--body goes with --post");
  Request request =
      text.post.empty() ? Get(text.get) : Post(text.post, text.body, text.content_type);
  for (const std::string& header : text.headers) {
    const std::size_t colon = header.find(':');
    if (colon == std::string::npos || colon == 0) {
      Refuse(fmt::format("--header \"{}\" is not NAME: VALUE", header));
    }
    request.Header(header.substr(0, colon),
                   std::string(internal::Trim(std::string_view(header).substr(colon + 1))));
  }
  for (const int status : text.statuses) request.ExpectStatus(status);
  request.Timeout(Duration("--timeout", text.timeout));
  Validate(request);
  return request;
}

}  // namespace

namespace {

// An empty value, such as an unset variable of a CI script, must not read as "not given".
void RefuseEmpty(CLI::App& app) {
  for (CLI::Option* option : app.get_options()) {
    if (option->get_items_expected_max() == 0) continue;
    option->check([](const std::string& value) {
      return value.empty() ? std::string("the value is empty") : std::string();
    });
  }
}

}  // namespace

void DeclareRunOptions(CLI::App& app, RunText& text) {
  app.add_option("--launcher", text.launcher, "auto, cgroup, docker or podman")->group("Service");
  app.add_option("--image", text.image,
                 "Container image (docker, podman); else one is built from the command")
      ->group("Service");
  app.add_option("--container-port", text.container_port,
                 "Port the service listens on inside its image")
      ->group("Service");
  app.add_option("--env", text.env, "NAME=VALUE for the service; may be repeated")
      ->group("Service");
  app.add_flag("--start-unlimited", text.start_unlimited, "Boot without limits, clamp once ready")
      ->group("Service");
  app.add_option("--ready-http", text.ready_http, "Ready when GET of this target answers 200")
      ->group("Service");
  app.add_option("--ready-log", text.ready_log, "Ready when a log line has this text")
      ->group("Service");
  app.add_option("--ready-timeout", text.ready_timeout, "How long it may take to be ready")
      ->group("Service")
      ->capture_default_str();

  app.add_option("--cpus", text.cpus, "CPU limit in CPUs, such as 0.5")->group("Limits");
  app.add_option("--quota", text.quota, "CPU time per period, such as 50ms")->group("Limits");
  app.add_option("--period", text.period, "Enforcement period, 1ms to 1s (100ms)")->group("Limits");
  app.add_option("--burst", text.burst, "CPU time that may be saved up, up to the quota")
      ->group("Limits");
  app.add_option("--cpuset", text.cpuset, "CPUs it may run on, such as 0-1,3")->group("Limits");
  app.add_option("--memory", text.memory, "Memory limit, such as 256m")->group("Limits");
  app.add_option("--memory-swap", text.memory_swap, "Memory plus swap, -1 for unlimited swap")
      ->group("Limits");

  app.add_option("--batch", text.batch, "Requests that start at the same instant")->group("Load");
  app.add_option("--every", text.every, "Time between batches")
      ->group("Load")
      ->capture_default_str();
  app.add_option("--rate", text.rate, "Requests per second, evenly spaced, instead of --batch")
      ->group("Load");
  app.add_option("--duration", text.duration, "Measured time")
      ->group("Load")
      ->capture_default_str();
  app.add_option("--warmup", text.warm_up, "Load before it, not measured")
      ->group("Load")
      ->capture_default_str();
  app.add_option("--get", text.get, "Target of a GET, such as /burn?ms=20")->group("Load");
  app.add_option("--post", text.post, "Target of a POST")->group("Load");
  app.add_option("--body", text.body, "Body of the POST")->group("Load");
  app.add_option("--content-type", text.content_type, "Type of the body")
      ->group("Load")
      ->capture_default_str();
  app.add_option("--header", text.headers, "NAME: VALUE; may be repeated")->group("Load");
  app.add_option("--expect-status", text.statuses,
                 "Status that counts as ok (any 2xx); may be repeated")
      ->group("Load");
  app.add_option("--timeout", text.timeout, "Per request, from its intended start")
      ->group("Load")
      ->capture_default_str();

  app.add_option("--budget", text.budgets,
                 "METRIC<BOUND, such as throttle_ratio<0.05 or p99<150ms; may be repeated")
      ->group("Verdict");
  app.add_option("--max-start-lag", text.max_start_lag, "Largest trusted P99 start lag (25ms)")
      ->group("Verdict");
  app.add_option("--retries", text.retries, "Repeats of an inconclusive run")
      ->group("Verdict")
      ->capture_default_str()
      ->check(CLI::Range(0, 100));
  app.add_option("--json", text.json, "Write the result to this file")->group("Verdict");
  app.add_flag("--quiet", text.quiet, "No progress")->group("Verdict");
  RefuseEmpty(app);
}

RunSettings Understand(const RunText& text) {
  RunSettings settings;
  settings.spec = ReadSpec(text);
  settings.plan = ReadPlan(text);
  settings.plan.measured();  // refuses an impossible plan now
  settings.request = ReadRequest(text);
  for (const std::string& budget : text.budgets) settings.budgets.push_back(ParseBudget(budget));
  if (!text.max_start_lag.empty()) {
    settings.options.bounds.start_lag_p99 = Duration("--max-start-lag", text.max_start_lag);
  }
  settings.options.retries = text.retries;
  if (!text.json.empty()) CheckWritable(text.json);
  return settings;
}

}  // namespace throttletest::cli
