#include "cli/output.h"

#include <cstdio>
#include <iostream>
#include <nlohmann/json.hpp>

namespace throttletest::cli {

void Tell(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::fflush(stderr);
}

void Print(std::string_view text) { std::fwrite(text.data(), 1, text.size(), stdout); }

void PrintDocument(const nlohmann::ordered_json& document) {
  Print(document.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
}

bool FinishOutput() {
  std::cout.flush();  // CLI11 prints --help and --version there
  return std::fflush(stdout) == 0 && std::ferror(stdout) == 0 && std::cout.good();
}

}  // namespace throttletest::cli
