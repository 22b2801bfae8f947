#include "deploy/tree.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "refusal.h"
#include "support/temp_tree.h"

namespace throttletest::internal {
namespace {

using testing::HasSubstr;
using testing::StartsWith;
using testing_support::Refusal;
using testing_support::TempTree;

std::vector<Node> Parse(const std::string& text) { return ParseYaml(text, "f.yaml"); }
std::string Refused(const std::string& text) {
  return Refusal([&] { Parse(text); });
}
const Node& At(const std::vector<Node>& documents, const std::vector<std::string>& path) {
  const Node* node = documents.at(0).Find(path);
  if (node == nullptr) throw std::runtime_error("not there");
  return *node;
}

TEST(Tree, KeepsTheLineOfEveryValue) {
  const auto file = Parse("# c\r\na:\r\n  b: 1\r\n  c:\r\n  d: [x, {e: 2}]\r\n");
  EXPECT_EQ(At(file, {"a", "b"}).line, 3);
  EXPECT_EQ(At(file, {"a", "b"}).text, "1");
  EXPECT_EQ(At(file, {"a", "c"}).kind, Node::Kind::kNull);
  EXPECT_EQ(At(file, {"a", "c"}).line, 4);
  EXPECT_EQ(At(file, {"a", "d"}).items.at(1).Find("e")->line, 5);
  EXPECT_EQ(At(file, {"a"}).file, "f.yaml");
}

TEST(Tree, GivesABlockTheLineOfItsKey) {
  const auto file = Parse("a:\n  # told\n  b:\n    c: 1\n  d:\n    - {e: 1}\n");
  EXPECT_EQ(At(file, {"a"}).line, 1);
  EXPECT_EQ(At(file, {"a", "b"}).line, 3);
  EXPECT_EQ(At(file, {"a", "d"}).line, 5);
  EXPECT_EQ(At(file, {"a", "d"}).items.at(0).line, 6);
}

TEST(Tree, GivesAnAliasTheLineOfItsAnchor) {
  const auto file = Parse("x: &x\n  cpus: 1\na: *x\n");
  EXPECT_EQ(At(file, {"a", "cpus"}).line, 2);
}

TEST(Tree, MergesMappingsUnderWhatIsWritten) {
  const auto file = Parse(
      "a: &a {one: 1, two: 1}\n"
      "b: &b {two: 2, three: 2}\n"
      "c:\n  two: 3\n  <<: [*b, *a]\n"
      "d: {<<: *a}\n"
      "e: {\"<<\": 1}\n");
  EXPECT_EQ(At(file, {"c", "one"}).text, "1");
  EXPECT_EQ(At(file, {"c", "two"}).text, "3");
  EXPECT_EQ(At(file, {"c", "three"}).text, "2");
  EXPECT_EQ(At(file, {"d", "two"}).text, "1");
  EXPECT_EQ(At(file, {"e", "<<"}).text, "1");
  EXPECT_THAT(Refused("a:\n  <<: text\n"),
              HasSubstr("f.yaml:2: \"<<\" merges mappings, not \"text\""));
  EXPECT_THAT(Refused("a:\n  <<: [[1]]\n"),
              HasSubstr("f.yaml:2: \"<<\" merges mappings, not a list"));
}

TEST(Tree, LeavesOutEmptyDocuments) {
  EXPECT_EQ(Parse("---\n# nothing\n---\na: 1\n---\nb: 2\n...\n").size(), 2u);
  EXPECT_TRUE(Parse("").empty());
}

TEST(Tree, KeepsTagsOfTheApplication) {
  const auto file = Parse("a: !reset null\nb: \"quoted\"\nc: !!str 5\n");
  EXPECT_EQ(At(file, {"a"}).tag, "!reset");
  EXPECT_EQ(At(file, {"b"}).tag, "");
}

TEST(Tree, RefusesWithFileLineAndReason) {
  EXPECT_EQ(Refused("a: 1\nb: 2\na: 3\n"),
            "f.yaml:3: the key \"a\" is there twice, first in line 1");
  EXPECT_THAT(Refused("a: 1\n\tb: 2\n"), StartsWith("f.yaml:2: not YAML: "));
  EXPECT_THAT(Refused("a: [1, 2\nb: 3\n"), StartsWith("f.yaml:"));
  EXPECT_THAT(Refused("a: *nowhere\n"), StartsWith("f.yaml:1: not YAML: "));
  EXPECT_EQ(Refused("[a]: 1\n"), "f.yaml:1: a key that is no plain text");
}

TEST(Tree, SaysOfATemplateWhatToDo) {
  const std::string text = Refused("a: 1\n{{- if .Values.limits }}\nb: 2\n{{- end }}\n");
  EXPECT_THAT(text, StartsWith("f.yaml:2: "));
  EXPECT_THAT(text, HasSubstr("this is a template: give what it renders to"));
}

TEST(Tree, RefusesAliasesThatGrowWithoutEnd) {
  EXPECT_THAT(Refused("a: &a [*a]\n"), HasSubstr("an alias that refers to itself"));
  std::string bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 9; ++i) {
    bomb += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [";
    for (int j = 0; j < 10; ++j) bomb += (j == 0 ? "*a" : ", *a") + std::to_string(i - 1);
    bomb += "]\n";
  }
  EXPECT_THAT(Refused(bomb), HasSubstr("the aliases up to here make more than"));
}

TEST(Tree, RefusesWhatIsNoReadableFile) {
  const TempTree tree;
  const std::string absent = tree.Path("none.yaml");
  EXPECT_EQ(Refusal([&] { ReadYaml(absent); }),
            absent + ": cannot be read: No such file or directory");
  EXPECT_EQ(Refusal([&] { ReadYaml(tree.root()); }), tree.root() + ": not a file");
  tree.Write("binary", std::string("\x7f\x45LF\0\x01\x02", 7));
  EXPECT_THAT(Refusal([&] { RequireMap(ReadYaml(tree.Path("binary")).at(0), "the file"); }),
              StartsWith(tree.Path("binary") + ":1: "));
}

}  // namespace
}  // namespace throttletest::internal
