// The JSON form of a measurement; its fields are documented in docs/json.md.
#pragma once

#include <string>
#include <vector>

#include "throttletest/measure/budget.h"
#include "throttletest/measure/measurement.h"

namespace throttletest {

// Schema name written into every document.
inline constexpr const char* kJsonSchema = "throttletest/run/1";

// One document, two blanks of indent, final newline. What is not available is null and has its
// reason under "not_available" by the field's dotted path; never 0. Values of secret_env are in no
// field. `unlimited`: the run that a job was compared with. Absent: null, none.
std::string ToJson(const Measurement& m, const std::vector<BudgetResult>& verdicts,
                   const Measurement* unlimited = nullptr);

// Writes text to `path` by way of a temporary file beside it, so that a reader never sees half of
// it. Errors: kInvalidArgument naming the path and the reason.
void WriteFile(const std::string& path, const std::string& text);
// Throws what WriteFile would, without writing: called before a measurement, so that no run is
// lost.
void CheckWritable(const std::string& path);

}  // namespace throttletest
