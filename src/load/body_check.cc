#include "load/body_check.h"

#include <fmt/format.h>

namespace throttletest::internal {

void BodyCheck::Begin(std::string_view text) {
  text_ = text;
  found_ = text.empty();
  start_.clear();
  tail_.clear();
  size_ = 0;
}

void BodyCheck::Take(std::string_view piece) {
  if (found_) return;
  size_ += piece.size();
  if (start_.size() < kShown) start_ += piece.substr(0, kShown - start_.size());
  const std::size_t overlap = text_.size() - 1;
  tail_ += piece.substr(0, overlap);
  found_ = tail_.find(text_) != std::string::npos || piece.find(text_) != std::string_view::npos;
  if (piece.size() >= overlap) {
    tail_ = piece.substr(piece.size() - overlap);
  } else if (tail_.size() > overlap) {
    tail_.erase(0, tail_.size() - overlap);
  }
}

std::string BodyCheck::Fault() const {
  if (found_) return {};
  const std::string wanted = Quoted(text_.substr(0, kShown));
  if (size_ == 0) return fmt::format("body does not contain {}: it is empty", wanted);
  if (size_ <= kShown) return fmt::format("body does not contain {}: {}", wanted, Quoted(start_));
  return fmt::format("body does not contain {}: {}... ({} bytes)", wanted, Quoted(start_), size_);
}

std::string Quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '\n') {
      out += "\\n";
    } else if (c == '\r') {
      out += "\\r";
    } else if (c == '\t') {
      out += "\\t";
    } else if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (byte < 0x20 || byte > 0x7e) {
      out += fmt::format("\\x{:02x}", byte);
    } else {
      out += c;
    }
  }
  return out + "\"";
}

}  // namespace throttletest::internal
