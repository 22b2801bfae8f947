// BodyCheck: looks for a text in a body that comes in pieces, without keeping the body.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace throttletest::internal {

class BodyCheck {
 public:
  // From here on a new body comes. `text` must outlive it; empty: nothing is looked for.
  void Begin(std::string_view text);
  void Take(std::string_view piece);

  // Absent: empty, when the text was found. Else what the body is instead:
  // `body does not contain "ok": "<html>\n<he" (5123 bytes)`.
  std::string Fault() const;

 private:
  static constexpr std::size_t kShown = 80;

  std::string_view text_;
  bool found_ = true;
  std::string start_;  // the first bytes, for the message
  std::string tail_;   // the last bytes, where the text may have begun
  std::uint64_t size_ = 0;
};

// In double quotes, with \n, \r, \t, \", \\ and \xNN for what is not printable ASCII.
std::string Quoted(std::string_view text);

}  // namespace throttletest::internal
