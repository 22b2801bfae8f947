// The inputs that a fuzzer has kept, for tests that replay them.
#pragma once

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace throttletest::testing_support {

// Name and content of every file of tests/data/fuzz/<name>, in order of names.
inline std::vector<std::pair<std::string, std::string>> Corpus(const std::string& name) {
  std::vector<std::pair<std::string, std::string>> inputs;
  const std::filesystem::path folder = std::string(THROTTLETEST_TEST_DATA) + "/fuzz/" + name;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    std::ifstream in(entry.path(), std::ios::binary);
    std::ostringstream text;
    text << in.rdbuf();
    inputs.emplace_back(entry.path().filename().string(), text.str());
  }
  std::sort(inputs.begin(), inputs.end());
  return inputs;
}

}  // namespace throttletest::testing_support
