// HttpReader: turns the bytes of a connection into answers and faults. No socket.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "load/answer_parser.h"
#include "load/body_check.h"
#include "load/fault.h"

namespace throttletest::internal {

// Reads the answers to one request after another on one connection.
class HttpReader {
 public:
  // Units: bytes. Room for the largest header and a little more, so that the parser is the one to
  // refuse it.
  static constexpr std::size_t kMostBuffered = AnswerParser::kHeaderLimit + std::size_t{16384};

  // `scratch`: where bytes are read to while none wait for more. Any number of readers may share
  // it, so that thousands of connections cost little memory and the bytes are in the CPU's cache.
  explicit HttpReader(std::span<char> scratch) : scratch_(scratch) {}

  // A request is being written; its answer comes next. `no_body`: it answers a HEAD request.
  // `body_text`: what the body must contain, empty for anything; it must outlive the answer.
  void ExpectAnswer(bool no_body, std::string_view body_text = {});

  // Where the next bytes go; at least one byte of room. They must be told to Took() before another
  // reader of the same scratch is used.
  char* room() { return rest_.empty() ? scratch_.data() : rest_.data() + filled_; }
  std::size_t room_size() const { return rest_.empty() ? scratch_.size() : rest_.size() - filled_; }
  // Bytes that wait for the rest of their line or header.
  std::size_t buffered() const { return filled_; }

  enum class Step { kNeedsMore, kAnswered, kBroken };
  // `n` bytes were put into room().
  Step Took(std::size_t n);
  // The service closed its side. `cut`: without the goodbye that says that this is on purpose.
  Step TookEnd(bool cut = false);

  int status() const { return status_; }       // after kAnswered
  bool reusable() const { return reusable_; }  // after kAnswered
  // After kAnswered, what is wrong with the body. Absent: empty.
  std::string body_fault() const { return check_.Fault(); }
  const Fault& fault() const { return fault_; }  // after kBroken
  bool answer_begun() const { return begun_; }   // any byte of an answer since ExpectAnswer()
  bool expects_answer() const { return expecting_; }

 private:
  static constexpr std::size_t kFirstSize = 2048;

  Step Answered(bool reusable);
  Step Broken(Fault fault);
  Step KeepRest(const char* bytes, std::size_t used);
  void DropRest();

  // A service that sends these for ever keeps the engine from nothing but its work.
  static constexpr int kMostInterim = 100;

  bool no_body_ = false;
  BodyCheck check_;
  int interim_ = 0;  // answers before the one that counts
  std::span<char> scratch_;
  std::vector<char> rest_;  // bytes that wait; empty while there are none
  std::size_t filled_ = 0;  // of rest_
  std::optional<AnswerParser> parser_;
  bool expecting_ = false;
  bool begun_ = false;
  bool reusable_ = false;
  int status_ = 0;
  Fault fault_;
};

}  // namespace throttletest::internal
