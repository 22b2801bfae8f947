#include "deploy/compose_file.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "base/refuse.h"
#include "base/text.h"
#include "throttletest/base/error.h"

namespace throttletest::internal {
namespace {

// The documents of a file are laid one on another, as Compose does it.
Node ReadMerged(const std::string& file) {
  const std::vector<Node> documents = ReadYaml(file);
  if (documents.empty()) Refuse(fmt::format("{}: nothing in it", file));
  Node root;
  root.kind = Node::Kind::kMap;
  root.file = file;
  root.line = documents.front().line;
  for (const Node& document : documents) {
    MergeInto(root, RequireMap(document, "the file"));
  }
  const Node* services = root.Find("services");
  if (services == nullptr) {
    Refuse(fmt::format("{}: no Compose file: it has no \"services\"", file));
  }
  RequireMap(*services, "services");
  return root;
}

std::string ListNames(std::vector<std::string> names) {
  return fmt::format("{}", fmt::join(names, ", "));
}

const Node& ServicesOf(const Node& root) { return *root.Find("services"); }

std::vector<std::string> NamesOf(const Node& root) {
  std::vector<std::string> names;
  for (const Field& field : ServicesOf(root).fields) names.push_back(field.key);
  return names;
}

}  // namespace

void MergeInto(Node& base, const Node& over) {
  for (const Field& field : over.fields) {
    Node* there = base.Find(field.key);
    if (field.value.tag == "!reset") {
      if (there != nullptr) {
        base.fields.erase(std::find_if(base.fields.begin(), base.fields.end(),
                                       [&](const Field& f) { return f.key == field.key; }));
      }
    } else if (there == nullptr) {
      base.fields.push_back(field);
    } else if (field.value.kind == Node::Kind::kMap && there->kind == Node::Kind::kMap &&
               field.value.tag != "!override") {
      MergeInto(*there, field.value);
    } else if (field.value.kind != Node::Kind::kNull) {
      *there = field.value;
    }
  }
}

ComposeFile::ComposeFile(const std::string& file, const ComposeOptions& options)
    : file_(file), options_(options) {
  const std::filesystem::path beside = std::filesystem::path(file).parent_path() / ".env";
  std::error_code ignored;
  if (std::filesystem::exists(beside, ignored)) {
    dot_env_ = ParseDotEnv(ReadTextFile(beside.string()), beside.string(),
                           [this](const std::string& name) { return Variable(name); });
  }
  Load(file_);
}

const Node& ComposeFile::Load(const std::string& file) {
  const auto at = loaded_.find(file);
  if (at != loaded_.end()) return at->second;
  return loaded_.emplace(file, ReadMerged(file)).first->second;
}

std::vector<std::string> ComposeFile::service_names() const { return NamesOf(loaded_.at(file_)); }

bool ComposeFile::has_service(const std::string& name) const {
  return ServicesOf(loaded_.at(file_)).Find(name) != nullptr;
}

std::optional<int> ComposeFile::include_line() const {
  const Node* include = loaded_.at(file_).Find("include");
  if (include == nullptr || include->kind == Node::Kind::kNull) return std::nullopt;
  return include->line;
}

Node ComposeFile::Service(const std::string& name) {
  if (!has_service(name)) {
    const auto include = include_line();
    const Node& services = ServicesOf(loaded_.at(file_));
    RefuseAt(services,
             fmt::format("there is no service \"{}\"; there are: {}{}", name,
                         services.fields.empty() ? "none" : ListNames(service_names()),
                         include ? fmt::format(" (files included in line {} are not read: name the "
                                               "file that has it)",
                                               *include)
                                 : ""));
  }
  return Resolve(file_, name, {});
}

Node ComposeFile::Resolve(const std::string& file, const std::string& name, const Chain& chain) {
  Node service = *ServicesOf(Load(file)).Find(name);
  const std::string key = "services." + name;
  if (service.kind == Node::Kind::kNull) {
    service.kind = Node::Kind::kMap;
    service.file = file;
    return service;
  }
  RequireMap(service, key);
  const Node* extends = service.Find("extends");
  if (extends == nullptr || extends->kind == Node::Kind::kNull) return service;

  Chain next = chain;
  next.emplace_back(file, name);
  std::string base_file = file;
  const Node* base_name = extends;
  if (extends->kind == Node::Kind::kMap) {
    base_name = extends->Find("service");
    if (base_name == nullptr) RefuseAt(*extends, key + ".extends names no service");
    if (const Node* other = extends->Find("file")) {
      const std::filesystem::path path = Replace(*other, key + ".extends.file");
      base_file =
          path.is_absolute()
              ? path.string()
              : (std::filesystem::path(file).parent_path() / path).lexically_normal().string();
    }
  }
  const std::string base = Replace(*base_name, key + ".extends");
  if (std::find(next.begin(), next.end(), std::pair(base_file, base)) != next.end()) {
    RefuseAt(*extends, fmt::format("{}.extends goes in a circle: \"{}\" of {} comes again", key,
                                   base, base_file));
  }
  const Node* services = nullptr;
  try {
    services = &ServicesOf(Load(base_file));
  } catch (const Error& e) {
    RefuseAt(*extends, fmt::format("{}.extends: {}", key, e.what()));
  }
  if (services->Find(base) == nullptr) {
    RefuseAt(*extends, fmt::format("{}.extends: there is no service \"{}\" in {}; there are: {}",
                                   key, base, base_file, ListNames(NamesOf(Load(base_file)))));
  }
  Node merged = Resolve(base_file, base, next);
  MergeInto(merged, service);
  merged.file = service.file;
  merged.line = service.line;
  return merged;
}

std::optional<std::string> ComposeFile::Variable(const std::string& name) const {
  if (const auto at = options_.env.find(name); at != options_.env.end()) return at->second;
  if (options_.use_environment) {
    // NOLINTNEXTLINE(concurrency-mt-unsafe): nothing of ours changes the environment
    if (const char* value = std::getenv(name.c_str())) return value;
  }
  if (const auto at = dot_env_.find(name); at != dot_env_.end()) return at->second;
  return std::nullopt;
}

bool ComposeFile::IsActive(const std::string& profile) const {
  const auto named = [&](std::string_view name) { return name == profile || name == "*"; };
  if (std::any_of(options_.profiles.begin(), options_.profiles.end(), named)) return true;
  const std::string listed = Variable("COMPOSE_PROFILES").value_or("");
  for (std::string_view rest = listed; !rest.empty();) {
    const std::size_t comma = rest.find(',');
    if (named(Trim(rest.substr(0, comma)))) return true;
    if (comma == std::string_view::npos) break;
    rest.remove_prefix(comma + 1);
  }
  return false;
}

std::string ComposeFile::Replace(const Node& scalar, const std::string& key) const {
  if (scalar.kind != Node::Kind::kScalar) {
    RefuseAt(scalar, fmt::format("{} is {}, not a single value", key, Describe(scalar)));
  }
  Interpolated replaced;
  try {
    replaced = Interpolate(scalar.text, [this](const std::string& n) { return Variable(n); });
  } catch (const Error& e) {
    RefuseAt(scalar, fmt::format("{}: {}", key, e.what()));
  }
  if (replaced.text.empty()) {
    if (!replaced.unset.empty()) {
      RefuseAt(scalar,
               fmt::format("{}: nothing is left of \"{}\", because {} is not set in the "
                           "environment or in the .env file: set it, or write a default such as "
                           "${{{}:-1}}",
                           key, scalar.text, replaced.unset.front(), replaced.unset.front()));
    }
    RefuseAt(scalar, fmt::format("{} is empty{}", key,
                                 scalar.text.empty()
                                     ? ""
                                     : fmt::format(": nothing is left of \"{}\"", scalar.text)));
  }
  return replaced.text;
}

std::optional<ComposeValue> ComposeFile::Value(const Node& service, const std::string& name,
                                               const std::vector<std::string>& path) const {
  const Node* node = &service;
  std::string key = "services." + name;
  for (const std::string& step : path) {
    RequireMap(*node, key);
    node = node->Find(step);
    key += "." + step;
    if (node == nullptr || node->kind == Node::Kind::kNull) return std::nullopt;
  }
  return ComposeValue{Replace(*node, key), key, node};
}

}  // namespace throttletest::internal
