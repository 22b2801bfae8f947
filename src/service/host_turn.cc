#include "service/host_turn.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <mutex>
#include <optional>
#include <utility>

#include "service/file_lock.h"
#include "throttletest/base/duration.h"
#include "throttletest/base/error.h"
#include "throttletest/service/host_lock.h"

namespace throttletest {
namespace internal {
namespace {

using std::chrono::steady_clock;

// A try costs microseconds; more of them would only wake up a CPU that others measure on.
constexpr auto kBetweenTries = std::chrono::milliseconds(50);
constexpr auto kTellAfter = std::chrono::seconds(1);

// What this process has.
struct Turns {
  std::mutex mutex;
  std::condition_variable_any changed;
  std::optional<HostLockOptions> options;  // Absent: the environment was not looked at yet
  pid_t process = 0;
  int holders = 0;
  bool asking = false;  // one of its threads waits for the others
  std::optional<FileLock> lock;
  std::string note;

  // A forked child has what its parent had, and must not take it for its own.
  void ForgetParents() {
    if (process == ::getpid()) return;
    process = ::getpid();
    holders = 0;
    asking = false;
    lock.reset();
  }
  const HostLockOptions& Options() {
    if (!options) options = HostLockFromEnvironment();
    return *options;
  }
};

// Never destroyed: a service may be started by a static object's constructor and destructor.
Turns& TheTurns() {
  static Turns& turns = *new Turns;
  return turns;
}

[[noreturn]] void ThrowStopped() {
  throw Error(ErrorCode::kInterrupted, "stopped while waiting for the measurements of others");
}

// "process 4711 (my_test)".
std::string Describe(std::optional<pid_t> holder) {
  if (!holder) return "another process, which cannot be seen from here";
  std::ifstream file(fmt::format("/proc/{}/comm", *holder));
  std::string name;
  std::getline(file, name);
  return name.empty() ? fmt::format("process {}", *holder)
                      : fmt::format("process {} ({})", *holder, name);
}

// One wait for other processes.
class Wait {
 public:
  Wait(const HostLockOptions& options, const std::stop_token& stop)
      : options_(options), stop_(stop), began_(steady_clock::now()) {}

  // Returns when it is time for another try. `lock` is what those who measure hold.
  void Pause(const FileLock& lock) {
    if (stop_.stop_requested()) ThrowStopped();
    const auto waited = steady_clock::now() - began_;
    if (waited >= options_.patience) {
      throw Error(ErrorCode::kUnsupported,
                  fmt::format("waited {} for the measurement of {}, which holds {}: end it, or "
                              "measure beside it with THROTTLETEST_LOCK=off",
                              ToString(options_.patience), Describe(lock.Holder()), options_.path));
    }
    if (waited >= kTellAfter) TellOnce(lock);
    std::mutex mutex;
    std::condition_variable_any never;
    std::unique_lock held(mutex);
    never.wait_for(held, stop_, kBetweenTries, [] { return false; });
  }

 private:
  void TellOnce(const FileLock& lock) {
    if (std::exchange(told_, true)) return;
    const auto text = fmt::format("waiting for the measurement of {}", Describe(lock.Holder()));
    if (options_.on_wait) {
      options_.on_wait(text);
    } else {
      fmt::print(stderr, "throttletest: {}\n", text);
    }
  }

  const HostLockOptions& options_;
  const std::stop_token& stop_;
  const steady_clock::time_point began_;
  bool told_ = false;
};

// The first of those who wait has `next`; who has just measured comes behind it.
FileLock Acquire(const HostLockOptions& options, const std::stop_token& stop) {
  FileLock next(options.path + ".next");
  FileLock lock(options.path);
  Wait wait(options, stop);
  while (!next.Try()) wait.Pause(lock);
  while (!lock.Try()) wait.Pause(lock);
  return lock;
}

// What one process gets from the others. `lock` is absent where it works without.
struct Turn {
  std::optional<FileLock> lock;
  std::string note;
};

Turn AskOthers(const HostLockOptions& options, const std::stop_token& stop) {
  Turn turn;
  if (options.path.empty()) return turn;
  try {
    turn.lock.emplace(Acquire(options, stop));
  } catch (const LockFileError& e) {
    if (options.required) throw;
    turn.note = fmt::format("not locked against other measurements on this machine: {}", e.what());
  }
  return turn;
}

}  // namespace

HostTurn::HostTurn(const std::stop_token& stop) : process_(::getpid()) {
  Turns& turns = TheTurns();
  std::unique_lock held(turns.mutex);
  turns.ForgetParents();
  if (!turns.changed.wait(held, stop, [&] { return !turns.asking; })) ThrowStopped();
  if (turns.holders == 0) {
    const HostLockOptions options = turns.Options();
    turns.asking = true;
    held.unlock();
    std::optional<Turn> turn;
    std::exception_ptr failure;
    try {
      turn.emplace(AskOthers(options, stop));
    } catch (...) {
      failure = std::current_exception();
    }
    held.lock();
    turns.asking = false;
    turns.changed.notify_all();
    if (failure) std::rethrow_exception(failure);
    if (turn->lock) turns.lock.emplace(std::move(*turn->lock));
    turns.note = std::move(turn->note);
  }
  ++turns.holders;
  note_ = turns.note;
}

HostTurn::~HostTurn() {
  if (process_ != ::getpid()) return;
  Turns& turns = TheTurns();
  const std::lock_guard held(turns.mutex);
  if (--turns.holders == 0) turns.lock.reset();
}

}  // namespace internal

std::string DefaultHostLockPath() {
  struct stat info {};
  constexpr mode_t kForEverybody = S_ISVTX | S_IRWXU | S_IRWXG | S_IRWXO;
  const bool shared = ::stat("/run/lock", &info) == 0 && S_ISDIR(info.st_mode) &&
                      (info.st_mode & kForEverybody) == kForEverybody;
  return std::string(shared ? "/run/lock" : "/tmp") + "/throttletest.lock";
}

HostLockOptions HostLockFromEnvironment() {
  HostLockOptions options;
  const char* text = std::getenv("THROTTLETEST_LOCK");
  const std::string value = text == nullptr ? "" : text;
  if (value.empty()) return options;
  if (value != "off" && value.front() != '/') {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("THROTTLETEST_LOCK=\"{}\" is neither \"off\" nor the absolute path of "
                            "a file to lock",
                            value));
  }
  options.required = value != "off";
  options.path = options.required ? value : "";
  return options;
}

void SetHostLock(HostLockOptions options) {
  internal::Turns& turns = internal::TheTurns();
  const std::lock_guard held(turns.mutex);
  turns.options = std::move(options);
}

}  // namespace throttletest
