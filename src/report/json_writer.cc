#include "report/json_writer.h"

#include <algorithm>

namespace throttletest::internal {
namespace {

std::string Compact(const Json& value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

bool IsPlain(const Json& value) { return !value.is_structured() || value.empty(); }

void Append(std::string& out, const Json& value, std::size_t depth) {
  const bool row = value.is_array() && std::all_of(value.begin(), value.end(), IsPlain);
  if (IsPlain(value) || row) {
    out += Compact(value);
    return;
  }
  const std::string indent(2 * (depth + 1), ' ');
  out += value.is_array() ? '[' : '{';
  bool first = true;
  for (const auto& item : value.items()) {
    out += first ? "\n" : ",\n";
    first = false;
    out += indent;
    if (value.is_object()) out += Compact(item.key()) + ": ";
    Append(out, item.value(), depth + 1);
  }
  out += '\n';
  out.append(2 * depth, ' ');
  out += value.is_array() ? ']' : '}';
}

}  // namespace

std::string Print(const Json& document) {
  std::string out;
  Append(out, document, 0);
  out += '\n';
  return out;
}

}  // namespace throttletest::internal
