// The text of a baseline file, both ways.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <string_view>
#include <system_error>

#include "throttletest/base/error.h"
#include "throttletest/measure/baseline.h"

namespace throttletest {
namespace {

using Json = nlohmann::json;
using TextMap = std::map<std::string, std::string>;

// The fields of an environment, all of them text.
constexpr std::array<const char*, 5> kEnvironmentFields = {"cgroup_mode", "cpu_model", "kernel",
                                                           "launcher", "online_cpus"};

[[noreturn]] void RefuseFile(const std::string& path, const std::string& what) {
  throw Error(ErrorCode::kParse,
              fmt::format("baseline file {} cannot be used: {} (it is left as it is)", path, what));
}

// Keys that occur twice in one object: a merge of two branches leaves them, and a JSON parser takes
// the last without a word.
class RepeatedKeys {
 public:
  bool operator()(int /*depth*/, Json::parse_event_t event, Json& value) {
    if (event == Json::parse_event_t::object_start) open_.emplace_back();
    if (event == Json::parse_event_t::object_end && !open_.empty()) open_.pop_back();
    if (event == Json::parse_event_t::key && !open_.empty()) {
      const auto key = value.get<std::string>();
      if (!open_.back().insert(key).second && repeated_.empty()) repeated_ = key;
    }
    return true;
  }
  // Absent: empty, none.
  const std::string& repeated() const { return repeated_; }

 private:
  std::vector<std::set<std::string>> open_;
  std::string repeated_;
};

// The line of a byte, and what is on it.
std::string LineAt(const std::string& text, std::size_t byte) {
  const std::size_t at = std::min(byte == 0 ? 0 : byte - 1, text.size());
  const std::size_t before = at == 0 ? std::string::npos : text.rfind('\n', at - 1);
  const std::size_t begin = before == std::string::npos ? 0 : before + 1;
  const auto line =
      1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n');
  constexpr std::size_t kShown = 60;
  return fmt::format("line {}: \"{}\"", line,
                     text.substr(begin, std::min(text.find('\n', begin) - begin, kShown)));
}

Json ParseJson(const std::string& text, const std::string& path) {
  RepeatedKeys keys;
  Json json;
  try {
    json = Json::parse(text, std::ref(keys));
  } catch (const Json::parse_error& e) {
    RefuseFile(path, fmt::format("it is not JSON at {}", LineAt(text, e.byte)));
  } catch (const Json::exception& e) {
    // A number too large for any figure, for example.
    RefuseFile(path, fmt::format("a number in it is too large ({})", e.what()));
  }
  if (!keys.repeated().empty()) {
    RefuseFile(path, fmt::format("the key \"{}\" occurs twice in one object", keys.repeated()));
  }
  return json;
}

// A value of the file with its place, "baselines.burst[0].runs[2].p99_ms".
class Node {
 public:
  Node(const Json& json, const std::string& file, std::string place)
      : json_(json), file_(file), place_(std::move(place)) {}

  const Json& json() const { return json_; }
  [[noreturn]] void Complain(const std::string& what) const {
    RefuseFile(file_, fmt::format("{} {}", place_.empty() ? "the document" : place_, what));
  }

  // An object with no other keys than these.
  void RequireKeys(const std::set<std::string>& known) const {
    RequireObject();
    for (const auto& item : json_.items()) {
      if (!known.contains(item.key())) {
        Complain(fmt::format("has an unknown key \"{}\"", item.key()));
      }
    }
  }
  void RequireObject() const {
    if (!json_.is_object()) Complain("is not an object");
  }
  Node Member(const std::string& key) const {
    if (!json_.contains(key)) Complain(fmt::format("has no \"{}\"", key));
    return {json_.at(key), file_, place_.empty() ? key : place_ + "." + key};
  }
  std::vector<Node> Elements() const {
    if (!json_.is_array()) Complain("is not a list");
    std::vector<Node> elements;
    for (std::size_t i = 0; i < json_.size(); ++i) {
      elements.push_back({json_.at(i), file_, fmt::format("{}[{}]", place_, i)});
    }
    return elements;
  }
  std::string Text() const {
    if (!json_.is_string()) Complain("is not a text");
    return json_.get<std::string>();
  }

 private:
  const Json& json_;
  const std::string& file_;
  std::string place_;
};

TextMap ReadTexts(const Node& node) {
  node.RequireObject();
  TextMap texts;
  for (const auto& item : node.json().items()) {
    texts[item.key()] = node.Member(item.key()).Text();
  }
  return texts;
}

TextMap ReadEnvironmentFields(const Node& node) {
  node.RequireKeys({kEnvironmentFields.begin(), kEnvironmentFields.end()});
  for (const char* field : kEnvironmentFields) node.Member(field);
  return ReadTexts(node);
}

BaselineRun ReadRun(const Node& node) {
  std::set<std::string> known = {"date"};
  for (const RunFigure figure : kRunFigures) known.insert(RunFigureName(figure));
  node.RequireKeys(known);
  BaselineRun run{.date = node.Member("date").Text()};
  for (const RunFigure figure : kRunFigures) {
    const Node value = node.Member(RunFigureName(figure));
    if (value.json().is_null()) {
      run.figures.at(figure) = Outcome<double>::NotAvailable("not stored in the baseline");
      continue;
    }
    if (!value.json().is_number() || !(value.json().get<double>() >= 0)) {
      value.Complain("is not a number of 0 or more, nor null");
    }
    // One above 1 would let every later run pass.
    const bool is_ratio = std::string_view(RunFigureName(figure)).ends_with("_ratio");
    if (is_ratio && value.json().get<double>() > 1) value.Complain("is not from 0 to 1, nor null");
    run.figures.at(figure) = Outcome<double>::Value(value.json().get<double>());
  }
  return run;
}

BaselineRuns ReadGroup(const Node& node) {
  node.RequireKeys({"environment", "plan", "request", "limits", "runs"});
  BaselineRuns group{.environment = ReadEnvironmentFields(node.Member("environment")),
                     .plan = node.Member("plan").Text(),
                     .request = node.Member("request").Text(),
                     .limits = ReadTexts(node.Member("limits"))};
  const Node runs = node.Member("runs");
  for (const Node& run : runs.Elements()) group.runs.push_back(ReadRun(run));
  if (group.runs.empty() || group.runs.size() > kMostBaselineRuns) {
    runs.Complain(
        fmt::format("has {} runs, possible are 1 to {}", group.runs.size(), kMostBaselineRuns));
  }
  return group;
}

std::vector<BaselineRuns> ReadGroups(const Node& node) {
  std::vector<BaselineRuns> groups;
  for (const Node& element : node.Elements()) {
    groups.push_back(ReadGroup(element));
    const auto same = std::count_if(groups.begin(), groups.end(), [&](const BaselineRuns& group) {
      return group.environment == groups.back().environment;
    });
    if (same > 1) element.Complain("has the environment of another entry of the same baseline");
  }
  return groups;
}

std::string Quoted(const std::string& text) {
  return Json(text).dump(-1, ' ', false, Json::error_handler_t::replace);
}

// {"a": "b", "c": "d"}, on one line.
std::string TextsLine(const TextMap& texts) {
  std::string line;
  for (const auto& [key, text] : texts) {
    line += fmt::format("{}{}: {}", line.empty() ? "" : ", ", Quoted(key), Quoted(text));
  }
  return "{" + line + "}";
}

// Thousandths of a millisecond and ten-thousandths of a ratio: more digits are noise in a review.
std::string FigureNumber(RunFigure figure, const Outcome<double>& value) {
  if (!value.has_value()) return "null";
  const bool is_time = std::string_view(RunFigureName(figure)).ends_with("_ms");
  return is_time ? fmt::format("{:.3f}", value.value()) : fmt::format("{:.4f}", value.value());
}

// One field a line, so that a review shows which one changed.
std::string TextLines(const TextMap& texts, const std::string& indent) {
  std::string lines;
  for (const auto& [key, text] : texts) {
    lines +=
        fmt::format("{}\n{}  {}: {}", lines.empty() ? "" : ",", indent, Quoted(key), Quoted(text));
  }
  return "{" + lines + "\n" + indent + "}";
}

std::string RunLine(const BaselineRun& run) {
  std::string line = fmt::format("{{\"date\": {}", Quoted(run.date));
  for (const RunFigure figure : kRunFigures) {
    line += fmt::format(", \"{}\": {}", RunFigureName(figure),
                        FigureNumber(figure, run.figures.at(figure)));
  }
  return line + "}";
}

std::string GroupText(const BaselineRuns& group) {
  std::string runs;
  for (const BaselineRun& run : group.runs) {
    runs += fmt::format("{}          {}", runs.empty() ? "" : ",\n", RunLine(run));
  }
  return fmt::format(
      "      {{\n"
      "        \"environment\": {},\n"
      "        \"plan\": {},\n"
      "        \"request\": {},\n"
      "        \"limits\": {},\n"
      "        \"runs\": [\n{}\n        ]\n"
      "      }}",
      TextLines(group.environment, "        "), Quoted(group.plan), Quoted(group.request),
      TextsLine(group.limits), runs);
}

}  // namespace

BaselineFile ParseBaselines(const std::string& text, const std::string& path) {
  const Json json = ParseJson(text, path);
  const Node document(json, path, "");
  document.RequireKeys({"schema", "baselines"});
  const std::string schema = document.Member("schema").Text();
  if (schema != kBaselineSchema) {
    RefuseFile(path, fmt::format("its schema is \"{}\", this version of throttletest reads \"{}\"",
                                 schema, kBaselineSchema));
  }
  BaselineFile file{.path = path};
  const Node baselines = document.Member("baselines");
  baselines.RequireObject();
  for (const auto& item : baselines.json().items()) {
    file.baselines[item.key()] = ReadGroups(baselines.Member(item.key()));
  }
  return file;
}

BaselineFile ReadBaselines(const std::string& path) {
  std::error_code ignored;
  const auto status = std::filesystem::status(path, ignored);
  if (std::filesystem::is_directory(status)) RefuseFile(path, "it is a directory");
  // Some of those never end.
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status)) {
    RefuseFile(path, "it is not a regular file");
  }
  std::ifstream in(path, std::ios::binary);
  if (!in) {
    const std::error_code error(errno, std::generic_category());
    if (error == std::errc::no_such_file_or_directory) return {.path = path};
    RefuseFile(path, fmt::format("it cannot be read: {}", error.message()));
  }
  std::ostringstream text;
  text << in.rdbuf();
  if (in.bad() || text.str().empty()) RefuseFile(path, "it is empty or cannot be read");
  return ParseBaselines(text.str(), path);
}

std::string ToJson(const BaselineFile& file) {
  std::string names;
  for (const auto& [name, groups] : file.baselines) {
    std::string list;
    for (const BaselineRuns& group : groups) {
      list += fmt::format("{}{}", list.empty() ? "" : ",\n", GroupText(group));
    }
    names += fmt::format("{}    {}: [\n{}\n    ]", names.empty() ? "" : ",\n", Quoted(name), list);
  }
  return fmt::format("{{\n  \"schema\": \"{}\",\n  \"baselines\": {{\n{}\n  }}\n}}\n",
                     kBaselineSchema, names);
}

}  // namespace throttletest
