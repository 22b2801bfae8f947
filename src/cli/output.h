// What the command says: results on stdout, everything else on stderr.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string_view>

namespace throttletest::cli {

// A text for people on stderr. A stderr that cannot be written must not end a run, so that is
// ignored.
void Tell(std::string_view text);

// A result on stdout. A failure is kept for FinishOutput().
void Print(std::string_view text);

// A JSON document on stdout. Text that is not UTF-8 is repaired, not refused.
void PrintDocument(const nlohmann::ordered_json& document);

// Flushes stdout. False when a result could not be written: a report that is lost on a full disk
// must not look like success.
bool FinishOutput();

}  // namespace throttletest::cli
