// RecordedTree: a cgroup tree of tests/data/cgroup as a private folder, from a folder of files or
// from one text that tests/data/cgroup/record wrote.
#pragma once

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>

#include "support/temp_tree.h"

namespace throttletest::testing_support {

class RecordedTree {
 public:
  // `path` without ".tree". Errors: std::runtime_error with the line that has no place.
  explicit RecordedTree(const std::string& path) {
    if (std::filesystem::is_directory(path)) {
      std::filesystem::copy(path, tree_.root(),
                            std::filesystem::copy_options::recursive |
                                std::filesystem::copy_options::copy_symlinks |
                                std::filesystem::copy_options::overwrite_existing);
    } else {
      Unfold(path + ".tree");
    }
    pid_ = FindPid();
  }

  const TempTree& tree() const { return tree_; }
  const std::string& root() const { return tree_.root(); }
  // The process whose cgroups were recorded.
  pid_t pid() const { return pid_; }

 private:
  void Unfold(const std::string& file) {
    std::ifstream in(file);
    if (!in) throw std::runtime_error("cannot read " + file);
    std::string path;
    std::string text;
    const auto finish = [&] {
      if (!path.empty()) tree_.Write(path, text);
      text.clear();
    };
    for (std::string line; std::getline(in, line);) {
      if (line.rfind("== ", 0) == 0) {
        finish();
        path = Start(line.substr(3));
      } else if (!path.empty()) {
        text += line + "\n";
      } else if (!line.empty() && line.front() != '#') {
        throw std::runtime_error(file + ": \"" + line + "\" belongs to no file");
      }
    }
    finish();
  }

  // The file that a header begins. Absent: empty, the header was a link.
  std::string Start(const std::string& header) {
    const auto arrow = header.find(" -> ");
    if (arrow == std::string::npos) return header;
    const std::filesystem::path link = tree_.Path(header.substr(0, arrow));
    std::filesystem::create_directories(link.parent_path());
    std::filesystem::create_symlink(header.substr(arrow + 4), link);
    return {};
  }

  pid_t FindPid() const {
    for (const auto& entry : std::filesystem::directory_iterator(tree_.Path("proc"))) {
      const std::string name = entry.path().filename();
      if (name != "self") return static_cast<pid_t>(std::stoi(name));
    }
    throw std::runtime_error(tree_.root() + "/proc has no process");
  }

  TempTree tree_;
  pid_t pid_ = 0;
};

}  // namespace throttletest::testing_support
