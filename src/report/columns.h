// Columns: cells of text as a table with left-aligned columns.
#pragma once

#include <string>
#include <vector>

namespace throttletest::internal {

// One line for each row; as wide as its widest cell is each column, two blanks between them, none
// at the end of a line. All rows have as many cells as the first.
std::string AlignColumns(const std::vector<std::vector<std::string>>& rows);

}  // namespace throttletest::internal
