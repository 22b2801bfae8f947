// CpuSet: a list of CPU numbers in the kernel's notation, "0-3,7".
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <utility>

namespace throttletest {

// A set of CPU numbers. Units: CPU numbers 0..65535. An empty set means "none", never "all".
class CpuSet {
 public:
  CpuSet() = default;
  explicit CpuSet(std::set<int> cpus) : cpus_(std::move(cpus)) {}

  // Reads "0-3,7". Blanks around numbers and a final newline are accepted; overlaps count once;
  // an empty text is the empty set. Errors: kInvalidArgument quoting the text ("1--3", "10-6",
  // "0-", ",1", "a", a number above 65535).
  static CpuSet Parse(std::string_view text);

  int count() const { return static_cast<int>(cpus_.size()); }
  bool empty() const { return cpus_.empty(); }
  bool Contains(int cpu) const { return cpus_.count(cpu) != 0; }
  // True when every CPU of `other` is in this set.
  bool Includes(const CpuSet& other) const;
  const std::set<int>& cpus() const { return cpus_; }

  // The shortest kernel notation, "0-3,7".
  std::string ToString() const;

  friend bool operator==(const CpuSet&, const CpuSet&) = default;

 private:
  std::set<int> cpus_;
};

}  // namespace throttletest
