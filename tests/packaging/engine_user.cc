// A user of the engine alone.
#include <throttletest/base/duration.h>

#include <iostream>

int main() { std::cout << throttletest::ToString(throttletest::ParseDuration("2.5s")) << '\n'; }
