// HttpReader: turns the bytes of a connection into answers and faults. No socket.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "load/answer_parser.h"
#include "load/fault.h"

namespace throttletest::internal {

// Reads the answers to one request after another on one connection.
class HttpReader {
 public:
  HttpReader() : buffer_(kFirstSize) {}

  // A request is being written; its answer comes next. `no_body`: it answers a HEAD request.
  void ExpectAnswer(bool no_body);

  // Where the next bytes go; at least one byte of room.
  char* room() { return buffer_.data() + filled_; }
  std::size_t room_size() const { return buffer_.size() - filled_; }

  enum class Step { kNeedsMore, kAnswered, kBroken };
  // `n` bytes were put into room().
  Step Took(std::size_t n);
  // The service closed its side.
  Step TookEnd();

  int status() const { return status_; }         // after kAnswered
  bool reusable() const { return reusable_; }    // after kAnswered
  const Fault& fault() const { return fault_; }  // after kBroken
  bool answer_begun() const { return begun_; }   // any byte of an answer since ExpectAnswer()
  bool expects_answer() const { return expecting_; }

 private:
  static constexpr std::size_t kFirstSize = 4096;
  // Room for the largest header and a little more, so that the parser is the one to refuse it.
  static constexpr std::size_t kLastSize = AnswerParser::kHeaderLimit + std::size_t{16384};

  Step Answered(bool reusable);
  Step Broken(Fault fault);
  Step KeepRest(std::size_t used, bool was_full);

  bool no_body_ = false;
  std::vector<char> buffer_;
  std::size_t filled_ = 0;
  std::optional<AnswerParser> parser_;
  bool expecting_ = false;
  bool begun_ = false;
  bool reusable_ = false;
  int status_ = 0;
  Fault fault_;
};

}  // namespace throttletest::internal
