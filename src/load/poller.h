// Poller: waits for sockets, for an instant and for other threads at once, with epoll.
//
//   Poller poller;
//   poller.Watch(fd, EPOLLIN, connection);   // connection.OnReady() when bytes come
//   while (!done) poller.RunOne(deadline);
#pragma once

#include <sys/epoll.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <vector>

#include "base/unique_fd.h"

namespace throttletest::internal {

// What is called when a descriptor is ready. It may be destroyed inside its own call, after
// Forget().
class ReadyHandler {
 public:
  virtual ~ReadyHandler() = default;
  // Units: events: the EPOLL* bits that the kernel reported, or what was given to Again().
  virtual void OnReady(std::uint32_t events) = 0;
};

// One thread runs it at a time. Only Wake() and Post() may be called from others.
//
// A descriptor is registered once, edge-triggered, so that a request and its answer cost a send, a
// receive and their share of an epoll_wait, and nothing else: asking the kernel again for every
// answer (as Asio's async_read_some and async_wait do) costs more than a tenth of a request.
class Poller {
 public:
  using Time = std::chrono::steady_clock::time_point;
  static constexpr Time kForever = Time::max();

  // Errors: kLoad when the kernel gives no descriptors.
  Poller();
  Poller(const Poller&) = delete;
  Poller& operator=(const Poller&) = delete;

  // Calls the handler from now on whenever one of the events (EPOLL* bits) newly holds.
  // Absent: 0 when it worked, else an errno value.
  int Watch(int fd, std::uint32_t events, ReadyHandler& handler);
  // For a watched descriptor. Events that hold now are reported again.
  void Change(int fd, std::uint32_t events, ReadyHandler& handler);
  // The handler is not called any more, not even for what was already reported. To be called before
  // `fd` is closed; -1 when there is none.
  void Forget(int fd, ReadyHandler& handler);

  // Calls the handler once more, after the others that are ready now.
  void Again(ReadyHandler& handler, std::uint32_t events);
  // Calls the handler with no events once `at` has come.
  void AgainAt(Time at, ReadyHandler& handler);

  // Ends the wait that is under way, or the next one. Any thread; safe in a signal handler.
  void Wake();
  // Has the task called by the thread that runs the poller. Any thread.
  void Post(std::function<void()> task);

  // Calls one handler or task; waits for one until `until` if there is none yet. False: nothing was
  // called, because the instant came, or Wake(), or for no reason at all. The instant is told even
  // when there is always something to call.
  bool RunOne(Time until);
  // The same without waiting. False: there is nothing to call now.
  bool PollOne() { return RunOne(Time::min()); }

 private:
  struct Call {
    ReadyHandler* handler;  // null: forgotten
    std::uint32_t events;
  };

  bool CallNext();
  // Asks the kernel what is ready, waiting until `until`.
  void Collect(Time until);
  void CollectTimers();
  void CollectTasks();
  void Arm(Time want);

  UniqueFd epoll_;
  UniqueFd timer_;
  UniqueFd wake_;
  Time armed_ = kForever;  // what the timer is set to
  bool timer_fired_ = false;

  std::vector<Call> ready_;  // to be called now, from next_ on
  std::size_t next_ = 0;
  std::vector<Call> again_;  // to be called in the next round
  std::multimap<Time, ReadyHandler*> timers_;
  std::vector<std::function<void()>> tasks_;  // to be called now, from next_task_ on
  std::size_t next_task_ = 0;

  std::mutex mutex_;  // guards posted_
  std::vector<std::function<void()>> posted_;
};

}  // namespace throttletest::internal
