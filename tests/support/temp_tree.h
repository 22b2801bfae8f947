// TempTree: a private folder of plain files that stands for /proc and /sys, gone with the object.
//
//   TempTree tree;
//   tree.Write("sys/fs/cgroup/a/cpu.max", "50000 100000\n");
//   Cgroup::Open(location, tree.root());
#pragma once

#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>

namespace throttletest::testing_support {

class TempTree {
 public:
  TempTree() {
    std::string pattern = (std::filesystem::temp_directory_path() / "tree-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("mkdtemp " + pattern);
    root_ = pattern;
  }
  // A copy of a recorded tree, which the test may then change.
  explicit TempTree(const std::string& recorded) : TempTree() {
    std::filesystem::copy(
        recorded, root_,
        std::filesystem::copy_options::recursive | std::filesystem::copy_options::copy_symlinks);
  }
  TempTree(const TempTree&) = delete;
  TempTree& operator=(const TempTree&) = delete;
  ~TempTree() {
    std::error_code ignored;
    std::filesystem::remove_all(root_, ignored);
  }

  const std::string& root() const { return root_; }
  // `path` may start with '/'.
  std::string Path(const std::string& path) const {
    return root_ + (path.rfind('/', 0) == 0 ? "" : "/") + path;
  }

  void Write(const std::string& path, const std::string& text) const {
    std::filesystem::create_directories(std::filesystem::path(Path(path)).parent_path());
    std::ofstream out(Path(path), std::ios::binary | std::ios::trunc);
    out << text;
    if (!out.flush()) throw std::runtime_error("cannot write " + Path(path));
  }
  void Mkdir(const std::string& path) const { std::filesystem::create_directories(Path(path)); }
  std::string Read(const std::string& path) const {
    std::ifstream in(Path(path), std::ios::binary);
    if (!in) throw std::runtime_error("cannot read " + Path(path));
    std::ostringstream text;
    text << in.rdbuf();
    return text.str();
  }
  bool Exists(const std::string& path) const { return std::filesystem::exists(Path(path)); }
  void Remove(const std::string& path) const { std::filesystem::remove_all(Path(path)); }

 private:
  std::string root_;
};

}  // namespace throttletest::testing_support
