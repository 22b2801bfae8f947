#include "load/dispatcher.h"

#include <fmt/format.h>

#include <algorithm>

#include "load/request_text.h"
#include "load/tally.h"

namespace throttletest::internal {
namespace {

// A service with a listen backlog of 5 loses the sixth of six simultaneous connects for a second,
// so they are opened a few at a time while there is time left.
constexpr std::int64_t kOpenStep = 4;
constexpr std::int64_t kOpenPause = 1'000'000;

// After a long sleep everything missed is due at once. Answers are read after this many requests,
// so that catching up does not drive requests into the in-flight limit.
constexpr std::int64_t kRequestsPerTurn = 256;

}  // namespace

Dispatcher::Dispatcher(const std::vector<Request>& requests, const DispatcherOptions& options,
                       const Clock& clock, Transport& transport)
    : options_(options), clock_(clock), deadlines_(requests), pool_(transport) {
  for (const Request& request : requests) kinds_.push_back({&request, IsIdempotent(request)});
}

void Dispatcher::Begin(const Schedule& schedule, std::int64_t lead_ns, LoadResult& result) {
  result_ = &result;
  result.records = RecordsOf(schedule);
  pacer_.emplace(result.records, lead_ns);
  flights_.clear();
  waiting_.clear();
  deadlines_.Clear();
  first_flight_ = in_flight_ = done_count_ = 0;
  prepare_at_ns_ = pacer_->prepare_ns();
  opens_left_ = 2 * pacer_->size();
}

std::int64_t Dispatcher::Read() { return seen_ns_ = clock_.Now(); }

void Dispatcher::OnTime() {
  const std::int64_t now = Read();
  ExpireUntil(now);
  std::int64_t sent = 0;
  while (pacer_->start_ns() <= now && sent < kRequestsPerTurn) sent += ReleaseBatch();
  if (prepare_at_ns_ <= now) Prepare();
}

std::int64_t Dispatcher::NextWake() const {
  std::int64_t wake = pacer_->start_ns();
  if (prepare_at_ns_ < wake && MissingConnections() > 0) wake = prepare_at_ns_;
  return std::min(wake, deadlines_.Next());
}

std::int64_t Dispatcher::NextWatch() const {
  const std::int64_t wake = NextWake();
  return wake == pacer_->start_ns() && wake != kNever ? wake - pacer_->watch_ns() : wake;
}

// Returns how many of it were released.
std::int64_t Dispatcher::ReleaseBatch() {
  std::int64_t released = 0;
  const std::int64_t first = pacer_->first_request();
  for (std::int64_t i = first; i < first + pacer_->size(); ++i) {
    if (ReleaseRequest(i)) ++released;
  }
  OpenForWaiting();
  pacer_->Advance();
  prepare_at_ns_ = pacer_->prepare_ns();
  opens_left_ = 2 * pacer_->size();
  return released;
}

bool Dispatcher::ReleaseRequest(std::int64_t request) {
  flights_.emplace_back();
  // Sending what has already timed out could only time out, and a plan far above what this machine
  // can send would never end.
  if (DeadlineOf(request) <= seen_ns_) {
    flights_.back().done = true;
    MarkNotSent(request, "generator later than the request's timeout");
    return false;
  }
  if (in_flight_ >= options_.max_in_flight) {
    flights_.back().done = true;
    MarkNotSent(request, fmt::format("in-flight limit of {} reached", options_.max_in_flight));
    return true;
  }
  ++in_flight_;
  const RequestRecord& record = RecordOf(request);
  deadlines_.Add(request, record.intended_ns, record.kind);
  if (const auto id = pool_.TakeIdle()) {
    SendOn(*id, request);
  } else {
    waiting_.push_back(request);
  }
  return true;
}

std::int64_t Dispatcher::MissingConnections() const {
  const auto waiting = static_cast<std::int64_t>(waiting_.size());
  const std::int64_t ready = pool_.idle() + pool_.opening() - waiting;
  const std::int64_t wanted = std::min(pacer_->size(), options_.max_in_flight - in_flight_);
  return std::clamp<std::int64_t>(wanted - ready, 0, opens_left_);
}

void Dispatcher::Prepare() {
  const std::int64_t missing = MissingConnections();
  // As many a step as the time until the start needs.
  const std::int64_t steps =
      std::max<std::int64_t>(1, (pacer_->start_ns() - seen_ns_) / (2 * kOpenPause));
  const std::int64_t now_open = std::min(missing, std::max(kOpenStep, missing / steps + 1));
  for (std::int64_t i = 0; i < now_open; ++i) pool_.Open(*this);
  opens_left_ -= now_open;
  prepare_at_ns_ = missing > now_open ? seen_ns_ + kOpenPause : kNever;
}

void Dispatcher::OpenForWaiting() {
  for (auto n = static_cast<std::int64_t>(waiting_.size()) - pool_.opening(); n > 0; --n) {
    pool_.Open(*this);
  }
}

void Dispatcher::ExpireUntil(std::int64_t now) {
  deadlines_.ExpireUntil(
      now, [this](std::int64_t request) { return IsDone(request); },
      [this](std::int64_t request) { Expire(request); });
  ForgetDone();
}

void Dispatcher::Expire(std::int64_t request) {
  const Flight& flight = FlightOf(request);
  if (flight.line) {
    pool_.Drop(*flight.line);
  } else {
    // It waits for a connection; with timeouts that differ it need not be the first that does.
    waiting_.erase(std::find(waiting_.begin(), waiting_.end(), request));
  }
  Finish(request, RequestFate::kTimedOut, {});
}

void Dispatcher::ForgetDone() {
  while (!flights_.empty() && flights_.front().done) {
    flights_.pop_front();
    ++first_flight_;
  }
}

void Dispatcher::SendOn(ChannelId id, std::int64_t request) {
  pool_.MakeBusy(id, request);
  FlightOf(request).line = id;
  Line& line = pool_.at(id);
  const std::int64_t now = Read();
  line.writing = !line.channel->Send(RecordOf(request).kind);
  if (!line.writing) SetSent(request, now);
}

// The first time counts when it is sent again: what a stale connection cost is the service's time,
// not the generator's lag.
void Dispatcher::SetSent(std::int64_t request, std::int64_t now) {
  RequestRecord& record = RecordOf(request);
  if (record.sent_ns >= 0) return;
  record.sent_ns = now;
  record.late = now - record.intended_ns > options_.late_after_ns;
}

bool Dispatcher::SendWaitingOn(ChannelId id) {
  if (waiting_.empty()) return false;
  const std::int64_t request = waiting_.front();
  waiting_.pop_front();
  SendOn(id, request);
  return true;
}

void Dispatcher::OnOpened(ChannelId id) {
  const Line& line = pool_.at(id);
  if (line.reserved) {
    SendOn(id, line.request);
  } else if (!SendWaitingOn(id)) {
    pool_.MakeIdle(id);
  }
}

void Dispatcher::OnOpenFailed(ChannelId id, const Fault& fault) {
  Read();
  const Line& line = pool_.at(id);
  const bool reserved = line.reserved;
  const std::int64_t request = line.request;
  pool_.Drop(id);
  if (reserved) {
    Fail(request, fault);
  } else if (static_cast<std::int64_t>(waiting_.size()) > pool_.opening()) {
    const std::int64_t first = waiting_.front();
    waiting_.pop_front();
    Fail(first, fault);
  }
  // A connection that was only meant to be ready is not worth a failure: the request that finds
  // none tries once more and reports what it meets.
}

void Dispatcher::OnWritten(ChannelId id) {
  Line& line = pool_.at(id);
  line.writing = false;
  SetSent(line.request, Read());
}

void Dispatcher::OnAnswered(ChannelId id, const Answer& answer) {
  const std::int64_t now = Read();
  Line& line = pool_.at(id);
  const std::int64_t request = line.request;
  line.served = true;
  line.rested = true;
  RequestRecord& record = RecordOf(request);
  record.status = static_cast<std::int16_t>(answer.status);
  // An answer before the last byte of the request was written, such as 413.
  SetSent(request, now);
  if (now > DeadlineOf(request)) {
    Finish(request, RequestFate::kTimedOut, {});
  } else if (!IsExpected(*kinds_[record.kind].request, answer.status)) {
    Finish(request, RequestFate::kFailed, fmt::format("HTTP {}", answer.status));
  } else if (!answer.fault.empty()) {
    Finish(request, RequestFate::kFailed, answer.fault);
  } else {
    Finish(request, RequestFate::kOk, {});
  }
  if (!answer.reusable) {
    pool_.Drop(id);
  } else if (!SendWaitingOn(id)) {
    pool_.MakeIdle(id);
  }
}

void Dispatcher::OnBroken(ChannelId id, const Fault& fault, bool answer_begun) {
  Read();
  const Line& line = pool_.at(id);
  if (line.state == Line::State::kBusy) {
    const std::int64_t request = line.request;
    const bool retry = MayRetry(line, fault, answer_begun);
    pool_.Drop(id);
    if (retry) {
      RetryOnFreshLine(request);
    } else {
      Fail(request, fault);
    }
    return;
  }
  pool_.Drop(id);
  // Closed while it was being kept ready: the next batch needs another one.
  if (pacer_->prepare_ns() <= seen_ns_) prepare_at_ns_ = std::min(prepare_at_ns_, seen_ns_);
}

bool Dispatcher::MayRetry(const Line& line, const Fault& fault, bool answer_begun) const {
  const RequestRecord& record = RecordOf(line.request);
  return kinds_[record.kind].idempotent && fault.closed && !answer_begun && line.rested &&
         !record.retried;
}

void Dispatcher::RetryOnFreshLine(std::int64_t request) {
  RecordOf(request).retried = true;
  const ChannelId id = pool_.Open(*this);
  pool_.Reserve(id, request);
  FlightOf(request).line = id;
}

void Dispatcher::Fail(std::int64_t request, const Fault& fault) {
  if (!fault.generator) {
    Finish(request, RequestFate::kFailed, fault.reason);
    return;
  }
  FlightOf(request).done = true;
  --in_flight_;
  MarkNotSent(request, fault.reason);
}

void Dispatcher::Finish(std::int64_t request, RequestFate fate, const std::string& reason) {
  RequestRecord& record = RecordOf(request);
  record.fate = fate;
  record.done_ns = seen_ns_;
  if (!reason.empty()) CountReason(*result_, reason);
  FlightOf(request).done = true;
  --in_flight_;
  ++done_count_;
}

void Dispatcher::MarkNotSent(std::int64_t request, const std::string& reason) {
  RequestRecord& record = RecordOf(request);
  record.fate = RequestFate::kNotSent;
  record.sent_ns = record.done_ns = -1;
  CountReason(*result_, reason);
  ++done_count_;
}

void Dispatcher::EndSchedule() {
  result_->records.resize(static_cast<std::size_t>(pacer_->first_request()));
  pacer_->End();
  prepare_at_ns_ = kNever;
}

void Dispatcher::Interrupt() {
  Read();
  for (std::int64_t i = first_flight_; !flights_.empty(); ++i) {
    if (!flights_.front().done) {
      const bool sent = RecordOf(i).sent_ns >= 0;
      Fail(i, {.reason = sent ? "given up: interrupted" : "interrupted", .generator = !sent});
    }
    flights_.pop_front();
    ++first_flight_;
  }
  waiting_.clear();
  prepare_at_ns_ = kNever;
  pool_.DropUnfinished();
  deadlines_.Clear();
  for (; !pacer_->finished(); pacer_->Advance()) {
    const std::int64_t first = pacer_->first_request();
    for (std::int64_t i = first; i < first + pacer_->size(); ++i) MarkNotSent(i, "interrupted");
  }
}

Dispatcher::Flight& Dispatcher::FlightOf(std::int64_t request) {
  return flights_[static_cast<std::size_t>(request - first_flight_)];
}

bool Dispatcher::IsDone(std::int64_t request) const {
  return request < first_flight_ ||
         flights_[static_cast<std::size_t>(request - first_flight_)].done;
}

RequestRecord& Dispatcher::RecordOf(std::int64_t request) {
  return result_->records[static_cast<std::size_t>(request)];
}

const RequestRecord& Dispatcher::RecordOf(std::int64_t request) const {
  return result_->records[static_cast<std::size_t>(request)];
}

std::int64_t Dispatcher::DeadlineOf(std::int64_t request) const {
  const RequestRecord& record = RecordOf(request);
  return deadlines_.Of(record.intended_ns, record.kind);
}

}  // namespace throttletest::internal
