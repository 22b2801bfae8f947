// Verdict: what became of a budget.
#pragma once

namespace throttletest {

enum class Verdict { kMet, kMissed, kInconclusive };
const char* VerdictName(Verdict verdict);  // "met", "missed", "inconclusive"

}  // namespace throttletest
