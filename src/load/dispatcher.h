// Dispatcher: takes requests from a schedule to their fates. It decides what is sent when and on
// which connection, what is tried again, what has timed out, and when to be woken next. It knows
// time and connections only through Clock and Transport: no socket, no thread, no waiting.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "load/channel.h"
#include "load/clock.h"
#include "load/deadlines.h"
#include "load/pacer.h"
#include "load/pool.h"
#include "throttletest/load/record.h"
#include "throttletest/load/request.h"
#include "throttletest/load/schedule.h"

namespace throttletest::internal {

struct DispatcherOptions {
  int max_in_flight = 4096;
  // A start lag above it marks a request as late. Units: > 0.
  std::int64_t late_after_ns = 10'000'000;
};

class Dispatcher : private ChannelEvents {
 public:
  // The references must outlive it. `requests` by RequestKind, at least one.
  Dispatcher(const std::vector<Request>& requests, const DispatcherOptions& options,
             const Clock& clock, Transport& transport);

  // Begins a schedule: fills in `result.records`; the result must outlive the run. Connections of
  // the run before are used again. Units: lead_ns: how long before the epoch connections may be
  // opened.
  void Begin(const Schedule& schedule, std::int64_t lead_ns, LoadResult& result);
  // Does all that is due now: gives up what has timed out, releases batches, opens connections.
  void OnTime();
  // When OnTime() must be called next, at the latest. Absent: kNever when Done().
  std::int64_t NextWake() const;
  // From when on it is better to look at the clock all the time than to sleep until NextWake().
  // Never after it, and the same when sleeping will do.
  std::int64_t NextWatch() const;
  // True when every request of the schedule has met its fate.
  bool Done() const { return pacer_->finished() && in_flight_ == 0; }
  // The schedule ends here: the requests that are not yet due are taken out of the records.
  void EndSchedule();
  // Sends nothing further and gives up what is under way.
  void Interrupt();

  std::int64_t done_count() const { return done_count_; }
  // The latest time it has read from the clock.
  std::int64_t seen_ns() const { return seen_ns_; }

 private:
  // What is asked for most often about a kind of request.
  struct Kind {
    const Request* request;
    bool idempotent;
  };
  // A request from its release to its fate. They lie in order of intended start.
  struct Flight {
    std::optional<ChannelId> line;
    bool done = false;
  };

  void OnOpened(ChannelId id) override;
  void OnOpenFailed(ChannelId id, const Fault& fault) override;
  void OnWritten(ChannelId id) override;
  void OnAnswered(ChannelId id, const Answer& answer) override;
  void OnBroken(ChannelId id, const Fault& fault, bool answer_begun) override;

  std::int64_t Read();
  std::int64_t ReleaseBatch();
  bool ReleaseRequest(std::int64_t request);
  void Prepare();
  std::int64_t MissingConnections() const;
  void OpenForWaiting();
  void ExpireUntil(std::int64_t now);
  void Expire(std::int64_t request);
  void ForgetDone();
  void SendOn(ChannelId id, std::int64_t request);
  bool SendWaitingOn(ChannelId id);
  void SetSent(std::int64_t request, std::int64_t now);
  bool MayRetry(const Line& line, const Fault& fault, bool answer_begun) const;
  void RetryOnFreshLine(std::int64_t request);
  void Fail(std::int64_t request, const Fault& fault);
  void Finish(std::int64_t request, RequestFate fate, const std::string& reason);
  void MarkNotSent(std::int64_t request, const std::string& reason);
  Flight& FlightOf(std::int64_t request);
  bool IsDone(std::int64_t request) const;
  RequestRecord& RecordOf(std::int64_t request);
  const RequestRecord& RecordOf(std::int64_t request) const;
  std::int64_t DeadlineOf(std::int64_t request) const;

  const DispatcherOptions options_;
  const Clock& clock_;
  std::vector<Kind> kinds_;
  Deadlines deadlines_;
  Pool pool_;

  LoadResult* result_ = nullptr;
  std::optional<Pacer> pacer_;
  std::deque<Flight> flights_;
  std::int64_t first_flight_ = 0;     // the request flights_.front() belongs to
  std::deque<std::int64_t> waiting_;  // released, for want of a connection not yet sent
  std::int64_t in_flight_ = 0;        // released and without a fate
  std::int64_t done_count_ = 0;
  std::int64_t seen_ns_ = 0;
  std::int64_t prepare_at_ns_ = kNever;
  std::int64_t opens_left_ = 0;  // connections that may yet be opened ahead of the next batch
};

}  // namespace throttletest::internal
