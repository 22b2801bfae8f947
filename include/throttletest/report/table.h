// ComparisonTable: measurements of several settings side by side, ranges over their rounds.
//
//   ComparisonTable table;
//   table.Add("0.5 CPUs", m);
//   std::cout << table.ToString();
#pragma once

#include <string>
#include <vector>

#include "throttletest/measure/measurement.h"

namespace throttletest {

// Rows in the order in which their settings were first added. A figure that is not available prints
// as its short reason ("no quota"), never as 0.
class ComparisonTable {
 public:
  // Adds one round of `setting`.
  void Add(const std::string& setting, const Measurement& m);
  // A text for the last column, e.g. a published figure to compare with.
  void Remark(const std::string& setting, const std::string& text);

  // Columns: setting, P50 and P99 response time in ms, throttled periods in %, throttled seconds,
  // mean CPUs, and the remark. Several rounds print as "least-most".
  std::string ToString() const;
  // Per setting, the median over batches of the k-th fastest response in ms, of the last round.
  std::string OrderMediansToString() const;

 private:
  struct Row {
    std::string setting;
    std::string remark;
    std::vector<Measurement> rounds;
  };
  Row& Find(const std::string& setting);
  std::vector<Row> rows_;
};

}  // namespace throttletest
