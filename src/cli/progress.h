// Progress: one live line on a terminal, a plain line per phase otherwise. Always on stderr.
#pragma once

#include <chrono>
#include <string>

#include "throttletest/measure/measure.h"

namespace throttletest::cli {

class Progress {
 public:
  // `quiet` prints nothing. Looks once whether stderr is a terminal.
  explicit Progress(bool quiet);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // A step such as "starting burn_server".
  void Step(const std::string& text);
  void Update(const MeasureProgress& progress);
  // How long a job has run, on a terminal.
  void Running(std::chrono::seconds so_far);
  // Ends the live line, so that other output starts on a fresh one.
  void Done();

 private:
  bool quiet_;
  bool terminal_;
  bool open_line_ = false;
  std::string phase_;
};

}  // namespace throttletest::cli
