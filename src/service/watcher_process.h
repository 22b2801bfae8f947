// The watcher's own process: its shared memory and its main function.
#pragma once

#include <sys/types.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "service/watcher.h"

namespace throttletest::internal {

// One registered action, written by the test process and read by the watcher after its death.
struct WatchSlot {
  static constexpr std::size_t kCapacity = std::size_t{16} * 1024;
  enum State : std::uint32_t { kFree = 0, kFilling, kArmed };
  std::atomic<std::uint32_t> state;
  std::uint32_t size;
  // Records of zero-terminated words: "D" directory, or "C" number-of-words program word...
  std::array<char, kCapacity> text;
};

// Memory shared between the test process and its watcher. All zero is a valid start.
struct WatchBoard {
  static constexpr int kSlots = 64;
  std::atomic<pid_t> watcher;
  std::array<WatchSlot, kSlots> slots;
};

// The text of a slot. Programs in commands must already be paths.
std::string EncodeAction(const CleanupAction& action);

// Walks through a slot's text without allocating. Each call of Next() gives one record.
class ActionReader {
 public:
  static constexpr std::size_t kMaxWords = 64;
  ActionReader(const char* text, std::size_t size) : at_(text), end_(text + size) {}

  // False at the end and at anything malformed.
  bool Next();
  // Of the present record: a directory, or null for a command.
  const char* directory() const { return directory_; }
  // Of the present record: a null-terminated argument vector, or null for a directory.
  const char* const* command() const { return directory_ == nullptr ? words_.data() : nullptr; }

 private:
  const char* Word();
  const char* at_;
  const char* end_;
  const char* directory_ = nullptr;
  std::array<const char*, kMaxWords + 1> words_{};
};

// Waits until the write end of `alive` is closed or `parent` (a pidfd, or -1) has ended, then does
// what the armed slots say. Runs in a forked child; async-signal-safe.
[[noreturn]] void RunWatcher(WatchBoard* board, int alive, int parent);

}  // namespace throttletest::internal
