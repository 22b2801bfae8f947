// AnswerParser: reads one HTTP answer as it comes in and keeps nothing of it.
#pragma once

#include <boost/beast/http/basic_parser.hpp>
#include <cstddef>
#include <cstdint>

#include "load/body_check.h"

namespace throttletest::internal {

// Boost.Beast's parser with every hook empty: headers are checked but not stored, bodies are
// counted and dropped, so an answer of any size costs no memory and no allocation.
class AnswerParser : public boost::beast::http::basic_parser<false> {
 public:
  static constexpr std::uint32_t kHeaderLimit = 64 * 1024;

  // `no_body`: the answer to a HEAD request, which announces a body that does not come. `check` is
  // given the body; it must outlive the parser.
  AnswerParser(bool no_body, BodyCheck& check) : check_(check) {
    eager(true);
    header_limit(kHeaderLimit);
    body_limit(boost::none);
    skip(no_body);
  }

  // Units: 100..999. Absent: 0 before the status line was read.
  int status() const { return status_; }
  std::uint64_t body_bytes() const { return body_bytes_; }

 private:
  using Code = boost::beast::error_code;
  using Text = boost::beast::string_view;

  void on_request_impl(boost::beast::http::verb, Text, Text, int, Code&) override {}
  void on_response_impl(int code, Text, int, Code&) override { status_ = code; }
  void on_field_impl(boost::beast::http::field, Text, Text, Code&) override {}
  void on_header_impl(Code&) override {}
  void on_body_init_impl(const boost::optional<std::uint64_t>&, Code&) override {}
  std::size_t on_body_impl(Text body, Code&) override { return Take(body); }
  void on_chunk_header_impl(std::uint64_t, Text, Code&) override {}
  std::size_t on_chunk_body_impl(std::uint64_t, Text body, Code&) override { return Take(body); }
  void on_finish_impl(Code&) override {}

  std::size_t Take(Text body) {
    body_bytes_ += body.size();
    check_.Take({body.data(), body.size()});
    return body.size();
  }

  BodyCheck& check_;
  int status_ = 0;
  std::uint64_t body_bytes_ = 0;
};

}  // namespace throttletest::internal
