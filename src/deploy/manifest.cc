#include "throttletest/deploy/manifest.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "base/number.h"
#include "base/refuse.h"
#include "deploy/amounts.h"
#include "deploy/tree.h"
#include "throttletest/base/byte_size.h"
#include "throttletest/deploy/deployed_service.h"

namespace throttletest {
namespace {

using internal::Describe;
using internal::Node;
using internal::RefuseAt;
using internal::RequireMap;

constexpr std::int64_t kMostReplicas = 100'000;
constexpr std::int64_t kMostMilliCpus = 1'000'000'000;

// Where the pod of a kind is, and what says how many run.
struct Workload {
  std::string_view kind;
  std::vector<std::string> pod;    // the pod's spec
  std::vector<std::string> count;  // absent: empty, always one
};
const std::vector<Workload>& Workloads() {
  static const std::vector<Workload> kWorkloads = {
      {"Pod", {"spec"}, {}},
      {"Deployment", {"spec", "template", "spec"}, {"spec", "replicas"}},
      {"StatefulSet", {"spec", "template", "spec"}, {"spec", "replicas"}},
      {"ReplicaSet", {"spec", "template", "spec"}, {"spec", "replicas"}},
      {"ReplicationController", {"spec", "template", "spec"}, {"spec", "replicas"}},
      {"DaemonSet", {"spec", "template", "spec"}, {}},
      {"Job", {"spec", "template", "spec"}, {"spec", "parallelism"}},
      {"CronJob",
       {"spec", "jobTemplate", "spec", "template", "spec"},
       {"spec", "jobTemplate", "spec", "parallelism"}},
  };
  return kWorkloads;
}

std::string Joined(const std::vector<std::string>& path) {
  return fmt::format("{}", fmt::join(path, "."));
}

// The text of a scalar. Absent: not there or null. Errors: it is no scalar.
const Node* Scalar(const Node& object, const std::vector<std::string>& path,
                   const std::string& name) {
  const Node* node = object.Find(path);
  if (node == nullptr || node->kind == Node::Kind::kNull) return nullptr;
  if (node->kind != Node::Kind::kScalar) {
    RefuseAt(*node, fmt::format("{} is {}, not a single value", name, Describe(*node)));
  }
  return node;
}

internal::Quantity ReadQuantity(const Node& node, const std::string& key) {
  const auto quantity = internal::Quantity::Parse(node.text);
  if (!quantity) {
    RefuseAt(node, fmt::format("{}: \"{}\" is not a quantity: write, for example, 500m, 1.5 or "
                               "512Mi (the letters n u m k M G T P E and Ki Mi Gi Ti Pi Ei)",
                               key, node.text));
  }
  if (quantity->negative()) RefuseAt(node, fmt::format("{}: \"{}\" is below 0", key, node.text));
  return *quantity;
}

std::int64_t ReadMilliCpus(const Node& node, const std::string& key) {
  const auto milli = ReadQuantity(node, key).Milli();
  if (!milli || *milli > kMostMilliCpus) {
    RefuseAt(node, fmt::format("{}: \"{}\" is more CPUs than a machine has", key, node.text));
  }
  return *milli;
}

ByteSize ReadBytes(const Node& node, const std::string& key) {
  const internal::Quantity quantity = ReadQuantity(node, key);
  if (quantity.FinerThan(0) && node.text.ends_with('m')) {
    RefuseAt(node, fmt::format("{}: \"{}\" is thousandths of a byte; did you mean {}i?", key,
                               node.text, node.text.substr(0, node.text.size() - 1) + "M"));
  }
  const auto bytes = quantity.Units();
  if (!bytes) RefuseAt(node, fmt::format("{}: \"{}\" is too large", key, node.text));
  return ByteSize(*bytes);
}

// Reads the containers of one object.
class PodReader {
 public:
  PodReader(const Node& object, const Workload& workload, DeployedServices& out)
      : object_(object), workload_(workload), out_(out) {
    const Node* name = Scalar(object, {"metadata", "name"}, "metadata.name");
    if (name == nullptr) name = Scalar(object, {"metadata", "generateName"}, "generateName");
    pod_ = fmt::format("{}/{}", workload.kind, name == nullptr ? "unnamed" : name->text);
  }

  void Read() {
    const Node* spec = object_.Find(workload_.pod);
    if (spec == nullptr) {
      RefuseAt(object_, fmt::format("{} has no {}", pod_, Joined(workload_.pod)));
    }
    RequireMap(*spec, Joined(workload_.pod));
    if (const Node* resources = spec->Find("resources");
        resources != nullptr && resources->kind != Node::Kind::kNull) {
      RefuseAt(*resources,
               fmt::format("{}: resources of the pod as a whole are not understood: give them to "
                           "the containers",
                           pod_));
    }
    ReadReplicas();
    ReadContainers(*spec, "initContainers");
    ReadContainers(*spec, "containers");
    if (!any_) RefuseAt(*spec, fmt::format("{} has no containers", pod_));
  }

 private:
  void ReadReplicas() {
    if (!workload_.count.empty()) {
      const std::string key = Joined(workload_.count);
      if (const Node* count = Scalar(object_, workload_.count, key)) {
        const auto number = internal::ParseInteger<std::int64_t>(count->text);
        if (!number || *number < 0 || *number > kMostReplicas) {
          RefuseAt(*count, fmt::format("{}: \"{}\" is not a whole number 0..{}", key, count->text,
                                       kMostReplicas));
        }
        replicas_ = static_cast<int>(*number);
      }
    }
    if (workload_.kind == "DaemonSet") {
      notes_.push_back(
          fmt::format("{}:{}: {} runs on every node", object_.file, object_.line, pod_));
    }
    const bool job = workload_.kind == "Job" || workload_.kind == "CronJob";
    const Node* suspend = job ? Scalar(object_, {"spec", "suspend"}, "spec.suspend") : nullptr;
    if (suspend != nullptr && suspend->text == "true") {
      replicas_ = 0;
      notes_.push_back(
          fmt::format("{}:{}: {} is suspended: not counted", suspend->file, suspend->line, pod_));
    }
  }

  void ReadContainers(const Node& spec, const std::string& list) {
    const Node* containers = spec.Find(list);
    if (containers == nullptr || containers->kind == Node::Kind::kNull) return;
    if (containers->kind != Node::Kind::kList) {
      RefuseAt(*containers,
               fmt::format("{}: {} is {}, not a list", pod_, list, Describe(*containers)));
    }
    for (const Node& container : containers->items) {
      RequireMap(container, fmt::format("{}: a container", pod_));
      const Node* name = Scalar(container, {"name"}, "name");
      if (name == nullptr) RefuseAt(container, fmt::format("{}: a container has no name", pod_));
      ReadContainer(container, list, name->text);
      any_ = true;
    }
  }

  void ReadContainer(const Node& container, const std::string& list, const std::string& name) {
    DeployedService service;
    service.name = pod_ + "/" + name;
    for (const DeployedService& other : out_) {
      if (other.name != service.name || other.file != container.file) continue;
      RefuseAt(container,
               fmt::format("\"{}\" is there twice, first in line {}", service.name, other.line));
    }
    service.pod = pod_;
    service.file = container.file;
    service.line = container.line;
    service.replicas = replicas_;
    service.notes = std::move(notes_);
    notes_.clear();
    if (list == "containers") {
      service.kind = DeployedService::Kind::kContainer;
    } else {
      const Node* policy = Scalar(container, {"restartPolicy"}, "restartPolicy");
      service.kind = policy != nullptr && policy->text == "Always" ? DeployedService::Kind::kSidecar
                                                                   : DeployedService::Kind::kInit;
    }
    ReadResources(container, fmt::format("{}.{}.resources", list, name), service);
    out_.push_back(std::move(service));
  }

  static const Node* Amount(const Node& container, const char* part, const char* what,
                            const std::string& key) {
    const Node* resources = container.Find("resources");
    if (resources == nullptr || resources->kind == Node::Kind::kNull) return nullptr;
    RequireMap(*resources, key);
    const Node* amounts = resources->Find(part);
    if (amounts == nullptr || amounts->kind == Node::Kind::kNull) return nullptr;
    RequireMap(*amounts, fmt::format("{}.{}", key, part));
    return Scalar(*amounts, {what}, fmt::format("{}.{}.{}", key, part, what));
  }

  static void ReadResources(const Node& container, const std::string& key,
                            DeployedService& service) {
    const auto origin = [](const Node& node, const std::string& name) {
      return LimitOrigin{node.file, node.line, name, node.text};
    };
    const Node* cpu = Amount(container, "limits", "cpu", key);
    if (cpu != nullptr) ReadCpuLimit(*cpu, key + ".limits.cpu", service);
    if (const Node* memory = Amount(container, "limits", "memory", key)) {
      const std::string name = key + ".limits.memory";
      const ByteSize bytes = ReadBytes(*memory, name);
      if (bytes.bytes() == 0) {
        service.notes.push_back(
            fmt::format("{}:{}: {}: 0 means no limit", memory->file, memory->line, name));
      } else {
        service.limits.memory = bytes;
        service.limits.memory_swap = bytes;
        service.limits.origins.push_back(origin(*memory, name));
      }
    }
    if (const Node* request = Amount(container, "requests", "cpu", key)) {
      const std::string name = key + ".requests.cpu";
      service.cpu_request = static_cast<double>(ReadMilliCpus(*request, name)) / 1000;
      service.cpu_request_origin = origin(*request, name);
    } else if (cpu != nullptr) {
      service.cpu_request = static_cast<double>(ReadMilliCpus(*cpu, key + ".limits.cpu")) / 1000;
    }
    if (const Node* request = Amount(container, "requests", "memory", key)) {
      service.memory_request = ReadBytes(*request, key + ".requests.memory");
    } else {
      service.memory_request = service.limits.memory;
    }
  }

  static void ReadCpuLimit(const Node& cpu, const std::string& key, DeployedService& service) {
    const std::int64_t milli = ReadMilliCpus(cpu, key);
    if (milli == 0) {
      service.notes.push_back(fmt::format("{}:{}: {}: 0 means no limit", cpu.file, cpu.line, key));
      return;
    }
    const std::int64_t quota = internal::QuotaOfMilliCpus(milli);
    service.limits.cpus = static_cast<double>(quota) / 100'000;
    service.limits.origins.push_back({cpu.file, cpu.line, key, cpu.text});
    if (quota != milli * 100) {
      service.notes.push_back(
          fmt::format("{}:{}: {}: \"{}\" becomes 0.01 CPUs: the kernel takes no quota below 1 ms",
                      cpu.file, cpu.line, key, cpu.text));
    } else if (ReadQuantity(cpu, key).FinerThan(3)) {
      service.notes.push_back(fmt::format("{}:{}: {}: \"{}\" is rounded up to {} thousandths",
                                          cpu.file, cpu.line, key, cpu.text, milli));
    }
  }

  const Node& object_;
  const Workload& workload_;
  DeployedServices& out_;
  std::string pod_;
  int replicas_ = 1;
  bool any_ = false;
  std::vector<std::string> notes_;  // of the object; its first container has them
};

// What is no workload but changes one.
constexpr std::array<std::string_view, 3> kChanging = {"HorizontalPodAutoscaler",
                                                       "VerticalPodAutoscaler", "LimitRange"};

// Reads the objects of a file in turn.
class ManifestReader {
 public:
  explicit ManifestReader(const std::string& file) : file_(file) {}

  DeployedServices Read() {
    for (const Node& document : internal::ReadYaml(file_)) ReadObject(document);
    if (!any_) internal::Refuse(fmt::format("{}: nothing in it", file_));
    if (!services_.empty()) {
      auto& first = services_.front().notes;
      first.insert(first.begin(), notes_.begin(), notes_.end());
    }
    return std::move(services_);
  }

 private:
  void ReadObject(const Node& object) {
    any_ = true;
    RequireMap(object, "an object");
    const Node* kind = Scalar(object, {"kind"}, "kind");
    if (kind == nullptr) RefuseAt(object, "an object without \"kind\": no Kubernetes manifest");
    if (const Node* items = object.Find("items");
        items != nullptr && kind->text.ends_with("List")) {
      for (const Node& item : items->items) ReadObject(item);
      return;
    }
    for (const Workload& workload : Workloads()) {
      if (workload.kind != kind->text) continue;
      PodReader(object, workload, services_).Read();
      return;
    }
    if (std::find(kChanging.begin(), kChanging.end(), kind->text) != kChanging.end()) {
      notes_.push_back(fmt::format("{}:{}: a {} may change these figures in the cluster",
                                   object.file, object.line, kind->text));
      return;
    }
    for (const auto& path : {std::vector<std::string>{"spec", "template", "spec", "containers"},
                             std::vector<std::string>{"spec", "containers"}}) {
      if (object.Find(path) == nullptr) continue;
      RefuseAt(*kind, fmt::format("kind \"{}\" has containers and is not understood", kind->text));
    }
  }

  const std::string& file_;
  bool any_ = false;
  DeployedServices services_;
  std::vector<std::string> notes_;
};

std::string ListNames(const DeployedServices& services) {
  std::vector<std::string> names;
  for (const DeployedService& s : services)
    names.push_back(fmt::format("{} ({}:{})", s.name, s.file, s.line));
  return names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace

Limits LimitsFromManifest(const std::string& file, const std::string& container) {
  const DeployedServices services = ServicesFromManifest(file);
  DeployedServices found;
  for (const DeployedService& service : services) {
    if (service.name == container || service.name.ends_with("/" + container)) {
      found.push_back(service);
    }
  }
  if (found.empty()) {
    internal::Refuse(fmt::format("{}: there is no container \"{}\"; there are: {}", file, container,
                                 ListNames(services)));
  }
  if (found.size() > 1) {
    internal::Refuse(
        fmt::format("{}: \"{}\" is the name of {} containers: {}; write one of them as "
                    "it stands here",
                    file, container, found.size(), ListNames(found)));
  }
  return found.front().limits;
}

DeployedServices ServicesFromManifest(const std::string& file) {
  return ManifestReader(file).Read();
}

}  // namespace throttletest
