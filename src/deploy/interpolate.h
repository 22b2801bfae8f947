// Variables in the values of a Compose file, and the .env file they may come from.
//
// Source: Compose Specification, "Interpolation"; where that is silent, compose-go (template,
// dotenv).
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace throttletest::internal {

// The value of a variable. Absent: it is not set, which is not the same as empty.
using Lookup = std::function<std::optional<std::string>(const std::string& name)>;

struct Interpolated {
  std::string text;
  // Variables that were not set and had no default, so that nothing stands in their place.
  std::vector<std::string> unset;
};

// Replaces $NAME, ${NAME}, ${NAME:-d}, ${NAME-d}, ${NAME:?why}, ${NAME?why}, ${NAME:+r}, ${NAME+r}
// and $$; what stands after an operator may hold variables itself. A $ that begins none of these
// stays as it is.
//
// Errors: kInvalidArgument quoting the expression: one that is not closed, has another operator, or
// needs a variable that is not set.
Interpolated Interpolate(std::string_view text, const Lookup& lookup);

// Reads the lines of a .env file: NAME=value, "export" before it, comments, quotes. Values that are
// not in single quotes are interpolated with `lookup`, then with the lines before. A line that is
// just a name sets nothing.
// Errors: kInvalidArgument with `file` and line.
std::map<std::string, std::string> ParseDotEnv(std::string_view text, const std::string& file,
                                               const Lookup& lookup);

}  // namespace throttletest::internal
