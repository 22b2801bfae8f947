// What must hold of HttpReader whatever a service sends. For the fuzzer and for the unit test that
// replays its corpus.
#pragma once

#include <string_view>

namespace throttletest::testing_support {

// The first two bytes say how the rest is read: what is expected, how it ends, in which pieces.
// Throws std::logic_error naming the property that does not hold.
void ProbeHttpReader(std::string_view input);

}  // namespace throttletest::testing_support
