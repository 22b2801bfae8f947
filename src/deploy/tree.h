// A YAML file as a tree of our own: anchors and merge keys are resolved, and every value still
// knows the line it was written in.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace throttletest::internal {

struct Field;

// One value of a file.
struct Node {
  enum class Kind { kNull, kScalar, kMap, kList };
  Kind kind = Kind::kNull;
  std::string text = {};      // of a scalar
  std::string tag = {};       // a tag of the application's own, such as "!reset"; else empty
  std::vector<Field> fields;  // of a map, in the file's order
  std::vector<Node> items;    // of a list
  std::string file = {};
  int line = 0;  // 1-based; of a mapping or list that has a key, the line of that

  // The value of `key`. Null: this is no map, or has no such key.
  const Node* Find(std::string_view key) const;
  Node* Find(std::string_view key);
  // The value below several keys; null when one of them is missing.
  const Node* Find(const std::vector<std::string>& path) const;
};

struct Field {
  std::string key;
  Node value;
};

// The documents of a file; empty ones are left out.
//
// Errors: kInvalidArgument naming the file, the line and the reason: not readable, not YAML, a key
// that is there twice, aliases that refer to themselves or make too much of a small file.
std::vector<Node> ReadYaml(const std::string& file);

// The same of a text.
std::vector<Node> ParseYaml(const std::string& text, const std::string& file);

// The text of a file. Errors: kInvalidArgument naming it and the reason.
std::string ReadTextFile(const std::string& file);

// "a mapping", "a list", "nothing" or the quoted text, for messages.
std::string Describe(const Node& node);

// Throws kInvalidArgument "FILE:LINE: what".
[[noreturn]] void RefuseAt(const std::string& file, int line, const std::string& what);
[[noreturn]] void RefuseAt(const Node& node, const std::string& what);

// Refuses when the node is no map: "`name` is a list, not a mapping".
const Node& RequireMap(const Node& node, const std::string& name);

}  // namespace throttletest::internal
