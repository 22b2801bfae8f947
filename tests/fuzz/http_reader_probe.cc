#include "fuzz/http_reader_probe.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <stdexcept>
#include <string>

#include "load/http_reader.h"

namespace throttletest::testing_support {
namespace {

using internal::HttpReader;
using Step = HttpReader::Step;

void Hold(bool property, const char* what) {
  if (!property) throw std::logic_error(what);
}

struct Setting {
  bool no_body;
  bool look_for_text;
  bool cut;
  bool in_pieces;
  unsigned seed;
};

// Sizes of reads: many small ones, some as large as the room.
class Sizes {
 public:
  explicit Sizes(const Setting& setting) : in_pieces_(setting.in_pieces), state_(setting.seed) {}
  std::size_t Next() {
    if (!in_pieces_) return SIZE_MAX;
    state_ = state_ * 1103515245 + 12345;
    const unsigned choice = (state_ >> 16) % 64;
    return choice < 60 ? choice % 13 + 1 : std::size_t{1} << (choice - 48);
  }

 private:
  bool in_pieces_;
  unsigned state_;
};

struct Outcome {
  Step step = Step::kNeedsMore;
  int status = 0;
  std::string body_fault = {};
  std::string reason = {};
};

Outcome OutcomeOf(const HttpReader& reader, Step step, const Setting& setting) {
  Outcome outcome{.step = step};
  if (step == Step::kAnswered) {
    outcome.status = reader.status();
    outcome.body_fault = reader.body_fault();
    Hold(outcome.status >= 100 && outcome.status <= 999, "a status has three digits");
    Hold(outcome.status >= 200 || outcome.status == 101, "an interim answer is not the answer");
    Hold(!reader.expects_answer(), "after an answer none is expected");
    Hold(setting.look_for_text || outcome.body_fault.empty(), "no text, no fault");
  } else {
    outcome.reason = reader.fault().reason;
    Hold(!outcome.reason.empty(), "a broken connection has a reason");
    Hold(outcome.reason.size() < 200, "a reason is short");
  }
  return outcome;
}

// Reads answers until the connection breaks or the bytes end; what came of the first one.
Outcome Read(std::string_view bytes, const Setting& setting) {
  // Small, so that some inputs fill it.
  std::array<char, 512> scratch;
  HttpReader reader(scratch);
  Sizes sizes(setting);
  Outcome first;
  bool any = false;
  const auto note = [&](Step step) {
    const Outcome outcome = OutcomeOf(reader, step, setting);
    if (!any) first = outcome;
    any = true;
    return step == Step::kAnswered && reader.reusable();
  };
  const auto expect = [&] {
    reader.ExpectAnswer(setting.no_body, setting.look_for_text ? "ok" : "");
    Hold(reader.expects_answer() && !reader.answer_begun(), "an expected answer has not begun");
  };
  expect();
  while (!bytes.empty()) {
    Hold(reader.room_size() > 0, "there is room for a read");
    Hold(reader.buffered() + reader.room_size() <= HttpReader::kMostBuffered, "the buffer ends");
    const std::size_t n = std::min({sizes.Next(), bytes.size(), reader.room_size()});
    std::memcpy(reader.room(), bytes.data(), n);
    bytes.remove_prefix(n);
    const Step step = reader.Took(n);
    if (step == Step::kNeedsMore) continue;
    if (!note(step)) return first;
    expect();
  }
  const Step end = reader.TookEnd(setting.cut);
  Hold(end != Step::kNeedsMore, "nothing comes after the end");
  note(end);
  return first;
}

}  // namespace

void ProbeHttpReader(std::string_view input) {
  if (input.size() < 2) return;
  const auto flags = static_cast<unsigned char>(input[0]);
  Setting setting{.no_body = (flags & 1) != 0,
                  .look_for_text = (flags & 2) != 0,
                  .cut = (flags & 4) != 0,
                  .in_pieces = true,
                  .seed = static_cast<unsigned char>(input[1])};
  input.remove_prefix(2);
  const Outcome pieces = Read(input, setting);
  setting.in_pieces = false;
  const Outcome whole = Read(input, setting);
  Hold(pieces.step == whole.step, "how an answer is cut does not decide whether it is one");
  Hold(pieces.status == whole.status, "how an answer is cut does not change its status");
  Hold(pieces.body_fault == whole.body_fault, "how a body is cut does not change it");
}

}  // namespace throttletest::testing_support
