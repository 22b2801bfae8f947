// LogTail: the end of what a service writes, read so that the service never waits for its reader.
#pragma once

#include <cstddef>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

#include "base/unique_fd.h"

namespace throttletest::internal {

// The last bytes of a stream. Not thread-safe.
class TailBuffer {
 public:
  explicit TailBuffer(std::size_t capacity) : capacity_(capacity) {}
  void Append(std::string_view text);
  // At most `capacity` bytes; begins at a line start when something was dropped.
  std::string Text() const;

 private:
  std::size_t capacity_;
  std::string text_;  // at most twice the capacity, so that dropping is rare
  bool dropped_ = false;
};

// Drains a pipe into a tail of 64 KiB on a thread of its own. Nothing is kept on disk, and a
// service that writes without end is never blocked. Thread-safe.
class LogTail {
 public:
  static constexpr std::size_t kCapacity = std::size_t{64} * 1024;

  // Makes the pipe. Errors: kServiceStart.
  LogTail();
  LogTail(const LogTail&) = delete;
  LogTail& operator=(const LogTail&) = delete;
  ~LogTail() { Stop(); }

  // The end the service writes to. Close it here (CloseWriteEnd) once the service has it.
  int write_end() const { return write_end_.get(); }
  void CloseWriteEnd() { write_end_.Reset(); }

  std::string Text() const;
  // Reads what is still in the pipe and ends the thread. Idempotent.
  void Stop();

 private:
  void Drain();
  // False when the pipe is at its end.
  bool ReadSome();

  UniqueFd read_end_;
  UniqueFd write_end_;
  UniqueFd stop_;  // an eventfd
  mutable std::mutex mutex_;
  TailBuffer tail_{kCapacity};
  std::thread thread_;
};

}  // namespace throttletest::internal
