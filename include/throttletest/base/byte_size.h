// ByteSize: a memory size whose unit cannot be forgotten.
//
//   Limits{.memory = 64_MiB, .memory_swap = ByteSize::Unlimited()}
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

namespace throttletest {

// A number of bytes, or "unlimited". Units: bytes, >= 0. A bare integer does not convert to it.
class ByteSize {
 public:
  constexpr explicit ByteSize(std::int64_t bytes) : bytes_(bytes) {}
  static constexpr ByteSize Unlimited() { return ByteSize(-1); }

  // Units: bytes. -1 when unlimited.
  constexpr std::int64_t bytes() const { return bytes_; }
  constexpr bool unlimited() const { return bytes_ < 0; }

  friend constexpr auto operator<=>(ByteSize, ByteSize) = default;

 private:
  std::int64_t bytes_;
};

// Reads "67108864", "64k", "64m", "1g", "64KiB", "64MiB", "1GiB" (any case, powers of 1024 as the
// container engines use) and "-1" or "unlimited". Errors: kInvalidArgument quoting the text.
ByteSize ParseByteSize(std::string_view text);

// "64 MiB", "1.5 GiB", "1000 bytes", "unlimited".
std::string ToString(ByteSize size);

inline namespace literals {
constexpr ByteSize operator""_KiB(unsigned long long n) {
  return ByteSize(static_cast<std::int64_t>(n) << 10);
}
constexpr ByteSize operator""_MiB(unsigned long long n) {
  return ByteSize(static_cast<std::int64_t>(n) << 20);
}
constexpr ByteSize operator""_GiB(unsigned long long n) {
  return ByteSize(static_cast<std::int64_t>(n) << 30);
}
}  // namespace literals

}  // namespace throttletest
