#include "cli/load_options.h"

#include <fmt/format.h>

#include <string_view>

#include "base/number.h"
#include "base/text.h"
#include "cli/option_values.h"

namespace throttletest::cli {
namespace {

constexpr char kDefaultDuration[] = "20s";

std::vector<std::string> Split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::size_t from = 0;
  for (;;) {
    const std::size_t to = text.find(separator, from);
    parts.push_back(text.substr(from, to - from));
    if (to == std::string::npos) return parts;
    from = to + 1;
  }
}

std::uint64_t ReadSeed(const std::string& text) {
  if (text.empty()) return 1;
  const auto seed = internal::ParseInteger<std::uint64_t>(text);
  if (!seed) RefuseOption(fmt::format("--seed \"{}\" is not a whole number of 0 or more", text));
  return *seed;
}

Rate ReadRate(const char* option, const std::string& text) {
  return Rate(NumberOption(option, text));
}

LoadPlan ReadRamp(const std::string& text) {
  const std::vector<std::string> ends = Split(text, ':');
  if (ends.size() != 2) {
    RefuseOption(fmt::format("--ramp \"{}\" is not FROM:TO, as in 10:200", text));
  }
  const Rate from = ReadRate("--ramp", ends[0]);
  const Rate to = ReadRate("--ramp", ends[1]);
  return Named("--ramp", text, [&](const std::string&) { return Ramp(from, to); });
}

LoadPlan ReadSteps(const std::string& text) {
  std::vector<RateStep> steps;
  for (const std::string& part : Split(text, ',')) {
    const std::vector<std::string> step = Split(part, ':');
    if (step.size() != 2) {
      RefuseOption(
          fmt::format("--steps \"{}\" is not RATE:DURATION,..., as in 50:10s,100:10s", text));
    }
    steps.push_back({ReadRate("--steps", step[0]), DurationOption("--steps", step[1])});
  }
  return Named("--steps", text, [&](const std::string&) { return Steps(steps); });
}

void RequireOnePattern(const LoadText& text) {
  const int patterns = (text.batch ? 1 : 0) + (text.rate.empty() ? 0 : 1) +
                       (text.poisson.empty() ? 0 : 1) + (text.ramp.empty() ? 0 : 1) +
                       (text.steps.empty() ? 0 : 1);
  if (patterns == 0) {
    RefuseOption("no load: give --batch N (with --every), --rate, --poisson, --ramp or --steps");
  }
  if (patterns > 1) RefuseOption("give only one of --batch, --rate, --poisson, --ramp, --steps");
  if (!text.every.empty() && !text.batch) RefuseOption("--every goes with --batch");
  if (!text.seed.empty() && text.poisson.empty()) RefuseOption("--seed goes with --poisson");
  if (!text.duration.empty() && !text.steps.empty()) {
    RefuseOption("--duration does not go with --steps: each step has its own");
  }
}

// One phase, without its duration.
LoadPlan ReadPattern(const LoadText& text) {
  if (text.batch) {
    return Named("--batch", std::to_string(*text.batch),
                 [&](const std::string&) { return Batches(*text.batch); })
        .Every(DurationOption("--every", text.every.empty() ? "1s" : text.every));
  }
  if (!text.ramp.empty()) return ReadRamp(text.ramp);
  if (!text.poisson.empty()) {
    const Rate rate = ReadRate("--poisson", text.poisson);
    const std::uint64_t seed = ReadSeed(text.seed);
    return Named("--poisson", text.poisson,
                 [&](const std::string&) { return Poisson(rate, seed); });
  }
  const Rate rate = ReadRate("--rate", text.rate);
  return Named("--rate", text.rate, [&](const std::string&) { return ConstantRate(rate); });
}

LoadPlan ReadArrivals(const LoadText& text) {
  if (!text.steps.empty()) return ReadSteps(text.steps);
  return ReadPattern(text).For(
      DurationOption("--duration", text.duration.empty() ? kDefaultDuration : text.duration));
}

// "TARGET" or "WEIGHT:TARGET".
WeightedRequest ReadGet(const std::string& text) {
  const std::size_t slash = text.find('/');
  if (slash == 0 || slash == std::string::npos || text[slash - 1] != ':') {
    return {Named("--get", text, Get), 1};
  }
  const std::string number = text.substr(0, slash - 1);
  const auto weight = internal::ParseInteger<int>(number);
  if (!weight) {
    RefuseOption(fmt::format("--get \"{}\": weight \"{}\" is not a whole number", text, number));
  }
  return {Named("--get", text.substr(slash), Get), *weight};
}

void Complete(Request& request, const LoadText& text) {
  for (const std::string& header : text.headers) {
    const std::size_t colon = header.find(':');
    if (colon == std::string::npos || colon == 0) {
      RefuseOption(fmt::format("--header \"{}\" is not NAME: VALUE", header));
    }
    request.Header(header.substr(0, colon),
                   std::string(internal::Trim(std::string_view(header).substr(colon + 1))));
  }
  for (const int status : text.statuses) request.ExpectStatus(status);
  if (!text.expect_body.empty()) request.ExpectBody(text.expect_body);
  request.Timeout(DurationOption("--timeout", text.timeout));
}

std::vector<WeightedRequest> ReadRequests(const LoadText& text) {
  if (!text.gets.empty() && !text.post.empty()) {
    RefuseOption(fmt::format("give --get or --post, not both: \"{}\" and \"{}\"", text.gets.front(),
                             text.post));
  }
  if (text.gets.empty() && text.post.empty()) RefuseOption("give --get TARGET or --post TARGET");
  if (!text.body.empty() && text.post.empty()) RefuseOption("--body goes with --post");
  std::vector<WeightedRequest> mix;
  for (const std::string& get : text.gets) mix.push_back(ReadGet(get));
  if (mix.empty()) mix.push_back({Post(text.post, text.body, text.content_type), 1});
  for (WeightedRequest& part : mix) Complete(part.request, text);
  return mix;
}

}  // namespace

void DeclareLoadOptions(CLI::App& app, LoadText& text) {
  const auto option = [&app](const char* name, auto& value, const char* help) {
    return app.add_option(name, value, help)->group("Load");
  };
  option("--batch", text.batch, "Requests that start at the same instant");
  option("--every", text.every, "Time between batches (1s)");
  option("--rate", text.rate, "Requests per second, evenly spaced, instead of --batch");
  option("--poisson", text.poisson, "Requests per second at random instants");
  option("--seed", text.seed, "Which random instants (1): the same seed, the same instants");
  option("--ramp", text.ramp, "FROM:TO, requests per second in a straight line");
  option("--steps", text.steps, "RATE:DURATION,..., one rate after the other");
  option("--duration", text.duration, "Measured time (20s)");
  option("--warmup", text.warm_up, "Load before it, not measured")->capture_default_str();
  option("--get", text.gets,
         "[WEIGHT:]TARGET of a GET, such as /burn?ms=20; several are mixed by weight (1)")
      ->allow_extra_args(false);
  option("--post", text.post, "Target of a POST");
  option("--body", text.body, "Body of the POST");
  option("--content-type", text.content_type, "Type of the body")->capture_default_str();
  option("--header", text.headers, "NAME: VALUE; may be repeated")->allow_extra_args(false);
  option("--expect-status", text.statuses, "Status that counts as ok (any 2xx); may be repeated")
      ->allow_extra_args(false);
  option("--expect-body", text.expect_body, "Text that a good answer's body holds");
  option("--unix", text.unix_path, "The service listens on this Unix socket, not on a port");
  app.add_flag("--tls", text.tls, "The service speaks HTTPS")->group("Load");
  option("--tls-ca", text.tls_ca, "File with the CA of its certificate (those of this machine)");
  option("--tls-name", text.tls_name, "Name that its certificate must be for (127.0.0.1)");
  app.add_flag("--tls-insecure", text.tls_insecure, "Do not check its certificate")->group("Load");
  option("--timeout", text.timeout, "Per request, from its intended start")->capture_default_str();
}

void ReadEndpoint(const LoadText& text, MeasureOptions& options) {
  options.unix_path = text.unix_path;
  if (text.tls_insecure && !(text.tls_ca.empty() && text.tls_name.empty())) {
    RefuseOption("--tls-insecure checks nothing: leave out --tls-ca and --tls-name, or it");
  }
  if (text.tls) {
    options.tls = TlsOptions{
        .ca_file = text.tls_ca, .server_name = text.tls_name, .verify = !text.tls_insecure};
  } else if (!text.tls_ca.empty() || !text.tls_name.empty() || text.tls_insecure) {
    RefuseOption("--tls-ca, --tls-name and --tls-insecure go with --tls");
  }
}

Traffic ReadTraffic(const LoadText& text) {
  RequireOnePattern(text);
  const LoadPlan plan = ReadArrivals(text).WarmUp(DurationOption("--warmup", text.warm_up));
  return Traffic(plan, ReadRequests(text));
}

}  // namespace throttletest::cli
