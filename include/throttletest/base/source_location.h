// SourceLocation: where in the user's test a call stands, so that a failure names the user's line.
//
// It is std::source_location where the compiler and its library have one. Clang before 16 with the
// library of GCC does not (Debian 12's default pair), so there it is a class with the same members.
#pragma once

#include <source_location>

#ifndef __cpp_lib_source_location
#include <cstdint>
#endif

namespace throttletest {

#ifdef __cpp_lib_source_location
using SourceLocation = std::source_location;
#else
class SourceLocation {
 public:
  static constexpr SourceLocation current(std::uint_least32_t line = __builtin_LINE(),
                                          const char* file = __builtin_FILE(),
                                          const char* function = __builtin_FUNCTION()) {
    return {line, file, function};
  }
  constexpr SourceLocation() = default;

  constexpr std::uint_least32_t line() const { return line_; }
  constexpr std::uint_least32_t column() const { return 0; }  // not known
  constexpr const char* file_name() const { return file_; }
  constexpr const char* function_name() const { return function_; }

 private:
  constexpr SourceLocation(std::uint_least32_t line, const char* file, const char* function)
      : line_(line), file_(file), function_(function) {}

  std::uint_least32_t line_ = 0;
  const char* file_ = "";
  const char* function_ = "";
};
#endif

}  // namespace throttletest
