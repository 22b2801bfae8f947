// JobTable: one job under several limits side by side.
//
//   JobTable table;
//   table.Add("unlimited", free);
//   table.Add("25 ms per 100 ms", held);
//   std::cout << table.ToString();
#pragma once

#include <string>
#include <vector>

#include "throttletest/measure/measurement.h"

namespace throttletest {

// Rows in the order in which they were added, one a run of RunJob(). A figure that is not available
// prints as its short reason, never as 0.
class JobTable {
 public:
  void Add(const std::string& setting, const Measurement& job);
  // A text for the last column of that row, e.g. a published figure to compare with.
  void Remark(const std::string& setting, const std::string& text);

  // Columns: setting, elapsed seconds, how many times the first row's that is, CPU seconds, mean
  // CPUs, throttled of all periods, throttled seconds and milliseconds a throttled period (summed
  // over CPUs), memory peak, the remark; and what became of a job that did not succeed.
  std::string ToString() const;

 private:
  struct Row {
    std::string setting;
    std::string remark;
    Measurement job;
  };
  std::vector<Row> rows_;
};

}  // namespace throttletest
