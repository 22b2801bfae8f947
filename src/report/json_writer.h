// Small pieces the JSON document is built from.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "throttletest/base/outcome.h"

namespace throttletest::internal {

using Json = nlohmann::ordered_json;

// Collects why fields are null, by their dotted path.
class Absences {
 public:
  void Add(const std::string& path, const std::string& reason) { reasons_[path] = reason; }
  const Json& reasons() const { return reasons_; }

 private:
  Json reasons_ = Json::object();
};

// One object of the document: sets fields and remembers why some are null.
class Fields {
 public:
  Fields(std::string path, Absences& absences) : path_(std::move(path)), absences_(absences) {}

  template <typename T>
  void Set(const char* key, const T& value) {
    json_[key] = value;
  }
  void SetAbsent(const char* key, const std::string& reason) {
    json_[key] = nullptr;
    absences_.Add(path_.empty() ? key : path_ + "." + key, reason);
  }
  template <typename T>
  void Set(const char* key, const std::optional<T>& value, const std::string& reason) {
    if (value) {
      json_[key] = *value;
    } else {
      SetAbsent(key, reason);
    }
  }
  // Durations are written as their count of nanoseconds.
  template <typename T>
  void SetOutcome(const char* key, const Outcome<T>& outcome) {
    if (!outcome.has_value()) {
      SetAbsent(key, outcome.reason());
    } else if constexpr (requires { outcome.value().count(); }) {
      json_[key] = outcome.value().count();
    } else {
      json_[key] = outcome.value();
    }
  }
  Json Take() { return std::move(json_); }

 private:
  std::string path_;
  Absences& absences_;
  Json json_ = Json::object();
};

// Two blanks of indent; arrays of plain values on one line, so that a file with ten thousand
// requests has one line for each. Text that is not UTF-8 is repaired, not refused.
std::string Print(const Json& document);

}  // namespace throttletest::internal
