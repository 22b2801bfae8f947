#include "deploy/interpolate.h"

#include <fmt/format.h>

#include "base/refuse.h"
#include "throttletest/base/error.h"

namespace throttletest::internal {
namespace {

bool StartsName(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool ContinuesName(char c) { return StartsName(c) || (c >= '0' && c <= '9'); }

std::size_t NameLength(std::string_view text) {
  if (text.empty() || !StartsName(text[0])) return 0;
  std::size_t n = 1;
  while (n < text.size() && ContinuesName(text[n])) ++n;
  return n;
}

// Where the brace of "${..." closes. Absent: it does not.
std::optional<std::size_t> ClosingBrace(std::string_view text) {
  int open = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '}' && --open == 0) return i;
    if (text[i] == '$' && i + 1 < text.size()) {
      if (text[i + 1] == '{') ++open;
      // The escaped "$${" opens nothing.
      if (text[i + 1] == '{' || text[i + 1] == '$') ++i;
    }
  }
  return std::nullopt;
}

class Interpolator {
 public:
  explicit Interpolator(const Lookup& lookup) : lookup_(lookup) {}

  std::string Replace(std::string_view text) {
    std::string out;
    while (!text.empty()) {
      const std::size_t dollar = text.find('$');
      out += text.substr(0, dollar);
      if (dollar == std::string_view::npos) break;
      text.remove_prefix(dollar);
      text.remove_prefix(ReplaceOne(text, out));
    }
    return out;
  }

  std::vector<std::string> TakeUnset() { return std::move(unset_); }

 private:
  // `text` begins with '$'. Returns how much of it was read.
  std::size_t ReplaceOne(std::string_view text, std::string& out) {
    if (text.starts_with("$$")) {
      out += '$';
      return 2;
    }
    if (text.starts_with("${")) {
      const auto end = ClosingBrace(text);
      if (!end) Refuse(fmt::format("\"{}\" has no closing brace", text));
      out += Braced(text.substr(0, *end + 1));
      return *end + 1;
    }
    const std::size_t length = NameLength(text.substr(1));
    if (length == 0) {
      out += '$';
      return 1;
    }
    out += Plain(std::string(text.substr(1, length)));
    return 1 + length;
  }

  std::string Plain(const std::string& name) {
    if (auto value = lookup_(name)) return *value;
    unset_.push_back(name);
    return "";
  }

  // `whole` is "${...}".
  std::string Braced(std::string_view whole) {
    std::string_view inside = whole.substr(2, whole.size() - 3);
    const std::size_t length = NameLength(inside);
    const std::string name(inside.substr(0, length));
    std::string_view rest = inside.substr(length);
    if (length > 0 && rest.empty()) return Plain(name);
    const bool or_empty = rest.starts_with(":");
    if (or_empty) rest.remove_prefix(1);
    const char operation = rest.empty() ? '\0' : rest[0];
    if (length == 0 || (operation != '-' && operation != '?' && operation != '+')) {
      Refuse(
          fmt::format("\"{}\" is no variable Compose knows: it takes ${{NAME}} and, after the "
                      "name, :- - :? ? :+ and +; write $$ for a plain $",
                      whole));
    }
    rest.remove_prefix(1);
    const std::optional<std::string> value = lookup_(name);
    const bool counts = value && !(or_empty && value->empty());
    if (operation == '+') return counts ? Replace(rest) : "";
    if (counts) return *value;
    if (operation == '-') return Replace(rest);
    const std::string why = Replace(rest);
    Refuse(fmt::format("\"{}\" needs the variable {}, which is {}{}", whole, name,
                       value ? "empty" : "not set", why.empty() ? "" : ": " + why));
  }

  const Lookup& lookup_;
  std::vector<std::string> unset_;
};

// Reads a .env file from its front to its end.
class DotEnv {
 public:
  DotEnv(std::string_view text, const std::string& file, const Lookup& lookup)
      : rest_(text), file_(file), lookup_(lookup) {}

  std::map<std::string, std::string> Read() {
    if (rest_.starts_with("\xEF\xBB\xBF")) rest_.remove_prefix(3);
    while (!rest_.empty()) ReadLine();
    return std::move(values_);
  }

 private:
  [[noreturn]] void RefuseHere(const std::string& what) const {
    Refuse(fmt::format("{}:{}: {}", file_, line_, what));
  }

  void SkipBlanks() {
    while (!rest_.empty() && (rest_[0] == ' ' || rest_[0] == '\t' || rest_[0] == '\r')) {
      rest_.remove_prefix(1);
    }
  }

  // Takes what is left of the line, and the line's end with it.
  std::string_view TakeLine() {
    const std::size_t end = rest_.find('\n');
    std::string_view line = rest_.substr(0, end);
    rest_.remove_prefix(end == std::string_view::npos ? rest_.size() : end + 1);
    ++line_;
    if (line.ends_with('\r')) line.remove_suffix(1);
    return line;
  }

  void ReadLine() {
    SkipBlanks();
    if (rest_.empty()) return;
    if (rest_[0] == '\n' || rest_[0] == '#') {
      TakeLine();
      return;
    }
    if (rest_.starts_with("export ") || rest_.starts_with("export\t")) {
      rest_.remove_prefix(6);
      SkipBlanks();
    }
    std::size_t length = NameLength(rest_);
    // Names of containers' variables may have these; no expression can ask for them.
    while (length > 0 && length < rest_.size() &&
           (ContinuesName(rest_[length]) || rest_[length] == '.' || rest_[length] == '-')) {
      ++length;
    }
    if (length == 0) {
      RefuseHere(fmt::format("\"{}\" is not NAME=value", rest_.substr(0, rest_.find('\n'))));
    }
    const std::string name(rest_.substr(0, length));
    rest_.remove_prefix(length);
    SkipBlanks();
    if (rest_.empty() || rest_[0] == '\n' || rest_[0] == '#') {
      TakeLine();
      return;
    }
    if (rest_[0] != '=' && rest_[0] != ':') {
      RefuseHere(
          fmt::format("\"{}{}\" is not NAME=value", name, rest_.substr(0, rest_.find('\n'))));
    }
    rest_.remove_prefix(1);
    SkipBlanks();
    values_[name] = ReadValue();
  }

  std::string ReadValue() {
    if (rest_.empty() || (rest_[0] != '"' && rest_[0] != '\'')) return Unquoted();
    const int line = line_;
    const char quote = rest_[0];
    rest_.remove_prefix(1);
    std::string value = Quoted(quote);
    SkipBlanks();
    const std::string_view after = TakeLine();
    if (!after.empty() && after[0] != '#') {
      line_ = line;
      RefuseHere(fmt::format("\"{}\" after the closing quote", after));
    }
    return quote == '\'' ? value : Replaced(value);
  }

  std::string Unquoted() {
    std::string_view value = TakeLine();
    if (value.starts_with('#')) return "";
    for (std::size_t i = 1; i < value.size(); ++i) {
      if (value[i] == '#' && (value[i - 1] == ' ' || value[i - 1] == '\t')) {
        value = value.substr(0, i);
        break;
      }
    }
    const std::size_t last = value.find_last_not_of(" \t");
    value = last == std::string_view::npos ? "" : value.substr(0, last + 1);
    --line_;
    std::string replaced = Replaced(std::string(value));
    ++line_;
    return replaced;
  }

  // Up to the closing quote, which may be lines below.
  std::string Quoted(char quote) {
    const int first = line_;
    std::string value;
    for (std::size_t i = 0; i < rest_.size(); ++i) {
      const char c = rest_[i];
      if (c == quote) {
        rest_.remove_prefix(i + 1);
        return value;
      }
      if (c == '\n') ++line_;
      if (c != '\\' || i + 1 == rest_.size()) {
        value += c;
        continue;
      }
      const char next = rest_[++i];
      if (next == quote) {
        value += next;
      } else if (quote == '"' && next == 'n') {
        value += '\n';
      } else if (quote == '"' && next == 't') {
        value += '\t';
      } else if (quote == '"' && next == 'r') {
        value += '\r';
      } else if (quote == '"' && next == '\\') {
        value += '\\';
      } else {
        value += c;
        value += next;
      }
    }
    line_ = first;
    RefuseHere("a quote that is not closed");
  }

  std::string Replaced(const std::string& value) const {
    try {
      return Interpolate(value,
                         [this](const std::string& name) -> std::optional<std::string> {
                           if (auto outer = lookup_(name)) return outer;
                           const auto at = values_.find(name);
                           return at == values_.end() ? std::nullopt : std::optional(at->second);
                         })
          .text;
    } catch (const Error& e) {
      RefuseHere(e.what());
    }
  }

  std::string_view rest_;
  const std::string& file_;
  const Lookup& lookup_;
  int line_ = 1;
  std::map<std::string, std::string> values_;
};

}  // namespace

Interpolated Interpolate(std::string_view text, const Lookup& lookup) {
  Interpolator interpolator(lookup);
  std::string out = interpolator.Replace(text);
  return {std::move(out), interpolator.TakeUnset()};
}

std::map<std::string, std::string> ParseDotEnv(std::string_view text, const std::string& file,
                                               const Lookup& lookup) {
  return DotEnv(text, file, lookup).Read();
}

}  // namespace throttletest::internal
