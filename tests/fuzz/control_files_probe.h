// What must hold of the parsers of control files whatever a kernel prints. For the fuzzer and for
// the unit test that replays its corpus.
#pragma once

#include <string_view>

namespace throttletest::testing_support {

// The first byte chooses the parser. Throws std::logic_error naming the property that does not
// hold.
void ProbeControlFiles(std::string_view input);

}  // namespace throttletest::testing_support
