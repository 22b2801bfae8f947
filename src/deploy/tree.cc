#include "deploy/tree.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <yaml-cpp/yaml.h>

#include <cerrno>
#include <fstream>
#include <iterator>
#include <system_error>

#include "base/refuse.h"
#include "base/text.h"

namespace throttletest::internal {
namespace {

// Real files stay far below; aliases of aliases do not.
constexpr int kMostNodes = 200'000;
constexpr int kDeepest = 100;
constexpr std::size_t kMostBytes = 16 << 20;

// A template engine's file is no YAML before that engine has read it.
std::string TemplateHint(const std::string& text, int line) {
  std::size_t begin = 0;
  for (int i = 1; i < line && begin != std::string::npos; ++i) {
    begin = text.find('\n', begin);
    if (begin != std::string::npos) ++begin;
  }
  if (begin == std::string::npos) return "";
  const std::string_view of_line =
      Trim(std::string_view(text).substr(begin, text.find('\n', begin) - begin));
  std::string hint = fmt::format(": \"{}\"", of_line.substr(0, 120));
  if (of_line.find("{{") != std::string_view::npos) {
    hint += "; this is a template: give what it renders to (\"helm template\")";
  }
  return hint;
}

class Converter {
 public:
  explicit Converter(const std::string& file) : file_(file) {}

  Node Convert(const YAML::Node& yaml, int depth = 0) {
    Node node;
    node.file = file_;
    node.line = yaml.Mark().line + 1;
    if (depth > kDeepest) {
      RefuseAt(node, fmt::format("nested deeper than {} levels, or an alias that refers to itself",
                                 kDeepest));
    }
    if (++count_ > kMostNodes) {
      RefuseAt(node, fmt::format("the aliases up to here make more than {} values of this file",
                                 kMostNodes));
    }
    if (const std::string& tag = yaml.Tag(); tag.size() > 1 && tag[0] == '!') node.tag = tag;
    switch (yaml.Type()) {
      case YAML::NodeType::Undefined:
      case YAML::NodeType::Null:
        break;
      case YAML::NodeType::Scalar:
        node.kind = Node::Kind::kScalar;
        node.text = yaml.Scalar();
        break;
      case YAML::NodeType::Sequence:
        node.kind = Node::Kind::kList;
        for (const YAML::Node& item : yaml) node.items.push_back(Convert(item, depth + 1));
        break;
      case YAML::NodeType::Map:
        node.kind = Node::Kind::kMap;
        ConvertMap(yaml, depth, node);
        break;
    }
    return node;
  }

 private:
  void ConvertMap(const YAML::Node& yaml, int depth, Node& node) {
    std::vector<Node> merged;
    for (const auto& pair : yaml) {
      const int line = pair.first.Mark().line + 1;
      if (!pair.first.IsScalar()) RefuseAt(file_, line, "a key that is no plain text");
      const std::string& key = pair.first.Scalar();
      // Quoted, "<<" is a key like others.
      if (key == "<<" && pair.first.Tag() != "!") {
        AddMerged(Convert(pair.second, depth + 1), line, merged);
        continue;
      }
      if (const Node* before = node.Find(key)) {
        RefuseAt(file_, line,
                 fmt::format("the key \"{}\" is there twice, first in line {}", key, before->line));
      }
      Node value = Convert(pair.second, depth + 1);
      // Nothing has no place of its own, and that of a block is the line of its first key.
      if (value.kind != Node::Kind::kScalar) value.line = line;
      node.fields.push_back({key, std::move(value)});
    }
    // What is written here wins, then what was merged first.
    for (Node& map : merged) {
      for (Field& field : map.fields) {
        if (node.Find(field.key) == nullptr) node.fields.push_back(std::move(field));
      }
    }
  }

  void AddMerged(Node value, int line, std::vector<Node>& merged) const {
    if (value.kind == Node::Kind::kMap) {
      merged.push_back(std::move(value));
      return;
    }
    if (value.kind != Node::Kind::kList) {
      RefuseAt(file_, line, fmt::format("\"<<\" merges mappings, not {}", Describe(value)));
    }
    for (Node& item : value.items) {
      if (item.kind != Node::Kind::kMap) {
        RefuseAt(file_, line, fmt::format("\"<<\" merges mappings, not {}", Describe(item)));
      }
      merged.push_back(std::move(item));
    }
  }

  const std::string& file_;
  int count_ = 0;
};

}  // namespace

const Node* Node::Find(std::string_view key) const {
  for (const Field& field : fields) {
    if (field.key == key) return &field.value;
  }
  return nullptr;
}

Node* Node::Find(std::string_view key) {
  for (Field& field : fields) {
    if (field.key == key) return &field.value;
  }
  return nullptr;
}

const Node* Node::Find(const std::vector<std::string>& path) const {
  const Node* node = this;
  for (const std::string& key : path) {
    node = node->Find(key);
    if (node == nullptr) return nullptr;
  }
  return node;
}

std::vector<Node> ParseYaml(const std::string& text, const std::string& file) {
  std::vector<Node> documents;
  try {
    Converter converter(file);
    for (const YAML::Node& yaml : YAML::LoadAll(text)) {
      Node node = converter.Convert(yaml);
      if (node.kind != Node::Kind::kNull) documents.push_back(std::move(node));
    }
  } catch (const YAML::Exception& e) {
    const int line = e.mark.line + 1;
    RefuseAt(file, line, fmt::format("not YAML: {}{}", e.msg, TemplateHint(text, line)));
  }
  return documents;
}

std::vector<Node> ReadYaml(const std::string& file) { return ParseYaml(ReadTextFile(file), file); }

std::string ReadTextFile(const std::string& file) {
  struct stat status {};
  std::ifstream stream;
  errno = 0;
  if (::stat(file.c_str(), &status) == 0) {
    // A folder opens and reads as nothing; a pipe may never end.
    if (!S_ISREG(status.st_mode)) Refuse(fmt::format("{}: not a file", file));
    stream.open(file, std::ios::binary);
  }
  if (!stream.is_open()) {
    Refuse(fmt::format("{}: cannot be read: {}", file,
                       std::generic_category().message(errno == 0 ? EIO : errno)));
  }
  std::string text{std::istreambuf_iterator<char>(stream), {}};
  if (stream.bad()) Refuse(fmt::format("{}: cannot be read", file));
  if (text.size() > kMostBytes) {
    Refuse(
        fmt::format("{}: {} bytes, more than the {} that are read", file, text.size(), kMostBytes));
  }
  return text;
}

std::string Describe(const Node& node) {
  switch (node.kind) {
    case Node::Kind::kNull:
      return "nothing";
    case Node::Kind::kScalar:
      return fmt::format("\"{}\"", node.text);
    case Node::Kind::kMap:
      return "a mapping";
    case Node::Kind::kList:
      return "a list";
  }
  return "nothing";
}

void RefuseAt(const std::string& file, int line, const std::string& what) {
  Refuse(fmt::format("{}:{}: {}", file, line, what));
}

void RefuseAt(const Node& node, const std::string& what) { RefuseAt(node.file, node.line, what); }

const Node& RequireMap(const Node& node, const std::string& name) {
  if (node.kind != Node::Kind::kMap) {
    RefuseAt(node, fmt::format("{} is {}, not a mapping", name, Describe(node)));
  }
  return node;
}

}  // namespace throttletest::internal
