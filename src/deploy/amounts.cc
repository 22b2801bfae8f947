#include "deploy/amounts.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>

#include "base/number.h"
#include "base/text.h"

namespace throttletest::internal {
namespace {

__extension__ using Wide = unsigned __int128;
constexpr Wide kMost = std::numeric_limits<std::int64_t>::max();

// digits x 10^ten x 2^two. `exact` is false when something was cut off. Absent: does not fit.
struct Scaled {
  std::int64_t value = 0;  // rounded up
  bool exact = true;
};
std::optional<Scaled> Scale(std::int64_t digits, int ten, int two) {
  Wide value = static_cast<Wide>(digits);
  Scaled scaled;
  for (; two > 0; --two) {
    value *= 2;
    if (value > kMost << 40) return std::nullopt;
  }
  for (; ten > 0; --ten) {
    value *= 10;
    if (value > kMost) return std::nullopt;
  }
  for (; ten < 0 && value != 0; ++ten) {
    if (value % 10 != 0) scaled.exact = false;
    value /= 10;
  }
  if (!scaled.exact) ++value;
  if (value > kMost) return std::nullopt;
  scaled.value = static_cast<std::int64_t>(value);
  return scaled;
}

struct Suffix {
  std::string_view text;
  int ten;
  int two;
};
constexpr std::array<Suffix, 16> kSuffixes = {{{"", 0, 0},
                                               {"n", -9, 0},
                                               {"u", -6, 0},
                                               {"m", -3, 0},
                                               {"k", 3, 0},
                                               {"M", 6, 0},
                                               {"G", 9, 0},
                                               {"T", 12, 0},
                                               {"P", 15, 0},
                                               {"E", 18, 0},
                                               {"Ki", 0, 10},
                                               {"Mi", 0, 20},
                                               {"Gi", 0, 30},
                                               {"Ti", 0, 40},
                                               {"Pi", 0, 50},
                                               {"Ei", 0, 60}}};

bool ReadSuffix(std::string_view text, int& ten, int& two) {
  for (const Suffix& suffix : kSuffixes) {
    if (suffix.text != text) continue;
    ten += suffix.ten;
    two = suffix.two;
    return true;
  }
  if (text.size() < 2 || (text[0] != 'e' && text[0] != 'E')) return false;
  text.remove_prefix(1);
  if (text[0] == '+') text.remove_prefix(1);
  const auto exponent = ParseInteger<int>(text);
  if (!exponent || std::abs(*exponent) > 30) return false;
  ten += *exponent;
  return true;
}

// Powers of two by letter. -1: no such letter.
int ShiftOf(char letter) {
  constexpr std::string_view kLetters = "kmgtp";
  const auto at = kLetters.find(letter);
  return at == std::string_view::npos ? -1 : static_cast<int>(at + 1) * 10;
}

}  // namespace

std::optional<double> ParseCpus(std::string_view text) {
  double value = 0;
  const char* end = text.data() + text.size();
  const auto [ptr, ec] = std::from_chars(text.data(), end, value, std::chars_format::general);
  if (ec != std::errc{} || ptr != end || !std::isfinite(value)) return std::nullopt;
  if (value < 0 || value > 1e6) return std::nullopt;
  return value;
}

std::optional<ByteSize> ParseComposeBytes(std::string_view text) {
  const std::string lower = Lower(text);
  std::string_view rest = lower;
  if (rest.ends_with('b')) rest.remove_suffix(1);
  int shift = 0;
  if (rest.ends_with('i')) rest.remove_suffix(1);
  if (!rest.empty() && ShiftOf(rest.back()) > 0) {
    shift = ShiftOf(rest.back());
    rest.remove_suffix(1);
  }
  if (rest.ends_with(' ')) rest.remove_suffix(1);
  const auto number = ParseDecimal(rest);
  if (!number || *number < 0 || rest.empty() || rest[0] == '.' || rest.ends_with('.')) {
    return std::nullopt;
  }
  const double bytes = *number * static_cast<double>(std::int64_t{1} << shift);
  if (bytes > 9e18) return std::nullopt;
  // Whole numbers exactly: a double has 53 bits.
  if (const auto whole = ParseInteger<std::int64_t>(rest)) return ByteSize(*whole << shift);
  return ByteSize(static_cast<std::int64_t>(bytes));
}

std::optional<Quantity> Quantity::Parse(std::string_view text) {
  Quantity quantity;
  if (!text.empty() && (text[0] == '-' || text[0] == '+')) {
    quantity.negative_ = text[0] == '-';
    text.remove_prefix(1);
  }
  bool any = false;
  bool point = false;
  std::size_t i = 0;
  for (; i < text.size(); ++i) {
    if (text[i] == '.' && !point) {
      point = true;
      continue;
    }
    if (text[i] < '0' || text[i] > '9') break;
    any = true;
    const int digit = text[i] - '0';
    if (quantity.digits_ > (std::numeric_limits<std::int64_t>::max() - digit) / 10) {
      return std::nullopt;
    }
    quantity.digits_ = quantity.digits_ * 10 + digit;
    if (point) --quantity.ten_;
  }
  if (!any || !ReadSuffix(text.substr(i), quantity.ten_, quantity.two_)) return std::nullopt;
  if (quantity.digits_ == 0) quantity.negative_ = false;
  return quantity;
}

std::optional<std::int64_t> Quantity::RoundedUp(int decimals) const {
  const auto scaled = Scale(digits_, ten_ + decimals, two_);
  if (!scaled) return std::nullopt;
  return scaled->value;
}

bool Quantity::FinerThan(int decimals) const {
  const auto scaled = Scale(digits_, ten_ + decimals, two_);
  return scaled && !scaled->exact;
}

std::int64_t QuotaOfMilliCpus(std::int64_t milli) {
  constexpr std::int64_t kPeriod = 100'000;
  constexpr std::int64_t kMinQuota = 1'000;
  return std::max(milli * kPeriod / 1000, kMinQuota);
}

}  // namespace throttletest::internal
