#include "load/http_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/beast/http/error.hpp>
#include <cstring>
#include <utility>

namespace throttletest::internal {
namespace {

namespace http = boost::beast::http;

constexpr int kFirstStatus = 100;
constexpr int kSwitchingProtocols = 101;

bool IsInterim(int status) { return status / 100 == 1 && status != kSwitchingProtocols; }

}  // namespace

void HttpReader::ExpectAnswer(bool no_body, std::string_view body_text) {
  no_body_ = no_body;
  check_.Begin(body_text);
  interim_ = 0;
  parser_.emplace(no_body_, check_);
  expecting_ = true;
  begun_ = false;
}

HttpReader::Step HttpReader::Took(std::size_t n) {
  if (!expecting_) {
    // Such as 408 before an idle connection is closed: nothing that was asked for.
    return Broken({.reason = "bytes without a request", .closed = true});
  }
  begun_ = true;
  const char* const bytes = rest_.empty() ? scratch_.data() : rest_.data();
  filled_ += n;
  std::size_t used = 0;
  while (used < filled_) {
    boost::beast::error_code ec;
    used += parser_->put(boost::asio::buffer(bytes + used, filled_ - used), ec);
    if (ec == http::error::need_more) break;
    if (ec) return Broken({.reason = fmt::format("malformed answer: {}", ec.message())});
    if (!parser_->is_done()) continue;
    const int status = parser_->status();
    if (!IsInterim(status)) {
      // After 101 something else than HTTP is spoken.
      return Answered(used == filled_ && parser_->keep_alive() && status != kSwitchingProtocols);
    }
    if (++interim_ > kMostInterim) {
      return Broken({.reason = fmt::format("malformed answer: more than {} before the final one",
                                           kMostInterim)});
    }
    parser_.emplace(no_body_, check_);
  }
  return KeepRest(bytes, used);
}

HttpReader::Step HttpReader::KeepRest(const char* bytes, std::size_t used) {
  filled_ -= used;
  if (filled_ == 0) {
    DropRest();
  } else if (rest_.empty()) {
    rest_.resize(std::min(std::max(kFirstSize, filled_ * 2), kMostBuffered));
    std::memcpy(rest_.data(), bytes + used, filled_);
  } else {
    // Not for nothing: a header that comes in small pieces would be moved for each of them.
    if (used > 0) std::memmove(rest_.data(), bytes + used, filled_);
    if (filled_ == rest_.size()) rest_.resize(std::min(rest_.size() * 4, kMostBuffered));
  }
  if (room_size() == 0) {
    return Broken({.reason = "malformed answer: header or chunk line too long"});
  }
  return Step::kNeedsMore;
}

void HttpReader::DropRest() {
  filled_ = 0;
  if (rest_.size() > kFirstSize) rest_ = std::vector<char>();
  rest_.clear();
}

HttpReader::Step HttpReader::TookEnd(bool cut) {
  if (!expecting_ || !begun_) {
    return Broken({.reason = "connection closed without an answer", .closed = true});
  }
  if (!parser_->is_header_done()) {
    return Broken({.reason = "malformed answer: closed inside the header", .closed = true});
  }
  boost::beast::error_code ec;
  parser_->put_eof(ec);
  const std::uint64_t got = parser_->body_bytes();
  if (!ec && cut) {
    return Broken(
        {.reason = fmt::format("short body: cut after {} bytes, without TLS's goodbye", got)});
  }
  if (!ec) return Answered(false);
  if (const auto length = parser_->content_length()) {
    return Broken({.reason = fmt::format("short body: {} of {} bytes", got, *length)});
  }
  return Broken(
      {.reason = fmt::format("short body: closed after {} bytes, without the last chunk", got)});
}

HttpReader::Step HttpReader::Answered(bool reusable) {
  status_ = parser_->status();
  if (status_ < kFirstStatus) {
    return Broken({.reason = fmt::format("malformed answer: status {:03}", status_)});
  }
  reusable_ = reusable;
  expecting_ = false;
  DropRest();
  return Step::kAnswered;
}

HttpReader::Step HttpReader::Broken(Fault fault) {
  fault_ = std::move(fault);
  return Step::kBroken;
}

}  // namespace throttletest::internal
