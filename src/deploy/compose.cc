#include "throttletest/deploy/compose.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "base/number.h"
#include "deploy/amounts.h"
#include "deploy/compose_file.h"
#include "throttletest/base/error.h"
#include "throttletest/cgroup/cpu_set.h"
#include "throttletest/deploy/deployed_service.h"

namespace throttletest {
namespace {

using internal::ComposeFile;
using internal::ComposeValue;
using internal::Node;
using internal::RefuseAt;

// Most services a file may ask for of one kind; what is above is a slip of the hand.
constexpr std::int64_t kMostReplicas = 100'000;

// Reads the values of one service.
class ServiceReader {
 public:
  ServiceReader(ComposeFile& file, const std::string& name)
      : file_(file), name_(name), node_(file.Service(name)) {}

  DeployedService Read() {
    service_.name = name_;
    service_.file = node_.file;
    service_.line = node_.line;
    ReadCpus();
    ReadCpuset();
    ReadMemory();
    ReadRequests();
    ReadReplicas();
    // The ranges of the kernel, whatever the CPUs of this machine.
    ResolveLimits(service_.limits, CpuSet::Parse(service_.limits.cpuset));
    return std::move(service_);
  }

 private:
  std::optional<ComposeValue> Value(const std::vector<std::string>& path) const {
    return file_.Value(node_, name_, path);
  }

  void Keep(const ComposeValue& value) {
    service_.limits.origins.push_back({value.node->file, value.node->line, value.key, value.text});
  }

  [[noreturn]] static void RefuseValue(const ComposeValue& value, const std::string& why) {
    RefuseAt(*value.node, fmt::format("{}: \"{}\" {}", value.key, value.text, why));
  }

  // 0 is no limit for Compose and for Docker.
  void NoteNoLimit(const ComposeValue& value) {
    service_.notes.push_back(fmt::format("{}:{}: {}: {} means no limit", value.node->file,
                                         value.node->line, value.key, value.text));
  }

  static double Cpus(const ComposeValue& value) {
    const auto cpus = internal::ParseCpus(value.text);
    if (!cpus) RefuseValue(value, "is not a number of CPUs: write, for example, \"0.5\"");
    return *cpus;
  }

  static ByteSize Bytes(const ComposeValue& value) {
    const auto bytes = internal::ParseComposeBytes(value.text);
    if (!bytes) {
      RefuseValue(value,
                  "is not a memory size: write bytes or a number with k, m or g, such as 512m");
    }
    return *bytes;
  }

  static std::int64_t Whole(const ComposeValue& value, const char* what) {
    const auto number = internal::ParseInteger<std::int64_t>(value.text);
    if (!number) RefuseValue(value, what);
    return *number;
  }

  // The one of two places that say the same; Compose refuses a file in which they differ, and takes
  // a part of `deploy` that leaves it out for a difference.
  template <typename Read>
  std::optional<ComposeValue> OneOf(const char* plain_key, const char* deploy_key,
                                    Read read) const {
    auto plain = Value({plain_key});
    auto deployed = Value({"deploy", "resources", "limits", deploy_key});
    if (!plain || read(*plain) == decltype(read(*plain)){0}) return deployed ? deployed : plain;
    const Node* limits = node_.Find({"deploy", "resources", "limits"});
    if (limits == nullptr || limits->kind == Node::Kind::kNull) return plain;
    if (!deployed) {
      RefuseAt(*plain->node,
               fmt::format("{} is {}, but deploy.resources.limits in line {} does not say so: "
                           "Compose refuses that; write {} there, too, or only there",
                           plain->key, plain->text, limits->line, deploy_key));
    }
    if (read(*plain) != read(*deployed)) {
      RefuseAt(*plain->node, fmt::format("{} is {}, but {} in line {} is {}: Compose refuses two "
                                         "different values; write one of them",
                                         plain->key, plain->text, deployed->key,
                                         deployed->node->line, deployed->text));
    }
    return plain;
  }

  void ReadCpus() {
    const auto value = OneOf("cpus", "cpus", [](const ComposeValue& v) { return Cpus(v); });
    const bool limited = value && Cpus(*value) > 0;
    if (value && !limited) NoteNoLimit(*value);
    const auto quota = Microseconds("cpu_quota");
    const auto period = Microseconds("cpu_period");
    for (const auto& other : {quota, period}) {
      if (!limited || !other) continue;
      RefuseAt(*value->node,
               fmt::format("{} is {}, and {} in line {} is {}: Docker refuses both together; write "
                           "one of them",
                           value->key, value->text, other->key, other->node->line, other->text));
    }
    if (limited) {
      service_.limits.cpus = Cpus(*value);
      Keep(*value);
    }
    if (quota) {
      service_.limits.quota = std::chrono::microseconds(Whole(*quota, ""));
      Keep(*quota);
    }
    if (period) {
      service_.limits.period = std::chrono::microseconds(Whole(*period, ""));
      Keep(*period);
    }
    for (const char* windows : {"cpu_count", "cpu_percent"}) {
      if (const auto set = Value({windows})) {
        service_.notes.push_back(fmt::format("{}:{}: {} does nothing on Linux", set->node->file,
                                             set->node->line, set->key));
      }
    }
  }

  // Absent: not set, or set to what means no limit.
  std::optional<ComposeValue> Microseconds(const char* key) {
    auto value = Value({key});
    if (!value) return std::nullopt;
    const std::int64_t us =
        Whole(*value, "is not a whole number of microseconds: write 50000 for 50 ms");
    if (us > 0) return value;
    // The kernel's own "no quota"; a period of less than nothing is none.
    if (us < 0 && (us != -1 || std::string(key) != "cpu_quota")) {
      RefuseValue(*value, "is below 0: write microseconds, or leave it out for no limit");
    }
    NoteNoLimit(*value);
    return std::nullopt;
  }

  void ReadCpuset() {
    const auto value = Value({"cpuset"});
    if (!value) return;
    try {
      if (CpuSet::Parse(value->text).empty()) RefuseValue(*value, "names no CPU");
    } catch (const Error& e) {
      RefuseAt(*value->node, fmt::format("{}: {}", value->key, e.what()));
    }
    service_.limits.cpuset = value->text;
    Keep(*value);
  }

  void ReadMemory() {
    const auto memory =
        OneOf("mem_limit", "memory", [](const ComposeValue& v) { return Bytes(v); });
    const bool limited = memory && Bytes(*memory).bytes() > 0;
    if (memory && !limited) NoteNoLimit(*memory);
    if (limited) {
      service_.limits.memory = Bytes(*memory);
      Keep(*memory);
    }
    const auto swap = Value({"memswap_limit"});
    if (!swap) return;
    const ByteSize size = swap->text == "-1" ? ByteSize::Unlimited() : Bytes(*swap);
    if (size.bytes() == 0) {
      NoteNoLimit(*swap);
      return;
    }
    if (!limited && !size.unlimited()) {
      RefuseValue(*swap, "is memory plus swap and needs mem_limit: Docker refuses it alone");
    }
    if (!limited) return;
    service_.limits.memory_swap = size;
    Keep(*swap);
  }

  void ReadRequests() {
    const std::vector<std::string> path = {"deploy", "resources", "reservations"};
    const auto at = [&](const char* key) {
      std::vector<std::string> whole = path;
      whole.emplace_back(key);
      return Value(whole);
    };
    if (const auto cpus = at("cpus"); cpus && Cpus(*cpus) > 0) {
      service_.cpu_request = Cpus(*cpus);
      service_.cpu_request_origin = {cpus->node->file, cpus->node->line, cpus->key, cpus->text};
    }
    auto memory = at("memory");
    if (!memory) memory = Value({"mem_reservation"});
    if (memory && Bytes(*memory).bytes() > 0) service_.memory_request = Bytes(*memory);
  }

  std::optional<std::int64_t> Count(const std::vector<std::string>& path,
                                    std::optional<ComposeValue>& value) const {
    value = Value(path);
    if (!value) return std::nullopt;
    const std::int64_t count = Whole(*value, "is not a whole number");
    if (count < 0 || count > kMostReplicas) {
      RefuseValue(*value, fmt::format("is outside 0..{}", kMostReplicas));
    }
    return count;
  }

  void ReadReplicas() {
    std::optional<ComposeValue> scale;
    std::optional<ComposeValue> replicas;
    const auto scaled = Count({"scale"}, scale);
    const auto replicated = Count({"deploy", "replicas"}, replicas);
    if (scaled && replicated && *scaled != *replicated) {
      RefuseAt(*scale->node,
               fmt::format(
                   "{} is {}, but {} in line {} is {}: Compose refuses two different values; "
                   "write one of them",
                   scale->key, scale->text, replicas->key, replicas->node->line, replicas->text));
    }
    service_.replicas = static_cast<int>(scaled ? *scaled : replicated.value_or(1));
    const auto mode = Value({"deploy", "mode"});
    if (mode && mode->text == "global") {
      service_.replicas = 1;
      service_.notes.push_back(fmt::format("{}:{}: {}: global runs one on every machine",
                                           mode->node->file, mode->node->line, mode->key));
    }
    ReadProfiles();
  }

  void ReadProfiles() {
    const Node* profiles = node_.Find("profiles");
    if (profiles == nullptr || profiles->kind == Node::Kind::kNull) return;
    const std::string key = "services." + name_ + ".profiles";
    if (profiles->kind != Node::Kind::kList) {
      RefuseAt(*profiles, fmt::format("{} is {}, not a list", key, internal::Describe(*profiles)));
    }
    std::vector<std::string> names;
    for (const Node& item : profiles->items) names.push_back(file_.Replace(item, key));
    if (names.empty() || std::any_of(names.begin(), names.end(),
                                     [&](const std::string& n) { return file_.IsActive(n); })) {
      return;
    }
    service_.replicas = 0;
    service_.notes.push_back(
        fmt::format("{}:{}: {} is not started: none of its profiles ({}) is active", profiles->file,
                    profiles->line, name_, fmt::join(names, ", ")));
  }

  ComposeFile& file_;
  const std::string& name_;
  const Node node_;
  DeployedService service_;
};

// "docker compose up" without -f reads these as well.
std::string OverrideBeside(const std::string& file) {
  const std::filesystem::path path(file);
  const std::filesystem::path beside =
      path.parent_path() / (path.stem().string() + ".override" + path.extension().string());
  std::error_code ignored;
  return std::filesystem::exists(beside, ignored) ? beside.string() : "";
}

}  // namespace

Limits LimitsFromCompose(const std::string& file, const std::string& service,
                         const ComposeOptions& options) {
  ComposeFile compose(file, options);
  return ServiceReader(compose, service).Read().limits;
}

DeployedServices ServicesFromCompose(const std::string& file, const ComposeOptions& options) {
  ComposeFile compose(file, options);
  if (const auto line = compose.include_line()) {
    RefuseAt(file, *line,
             "\"include\" is not understood: give the output of \"docker compose config\", or the "
             "included files as well");
  }
  DeployedServices services;
  for (const std::string& name : compose.service_names()) {
    services.push_back(ServiceReader(compose, name).Read());
  }
  if (const std::string beside = OverrideBeside(file); !beside.empty() && !services.empty()) {
    services.front().notes.push_back(
        fmt::format("{} is not read, as with \"docker compose -f {}\"", beside, file));
  }
  return services;
}

}  // namespace throttletest
