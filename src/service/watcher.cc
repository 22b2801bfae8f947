#include "service/watcher.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <mutex>
#include <new>
#include <utility>

#include "base/unique_fd.h"
#include "service/process_handle.h"
#include "service/program.h"
#include "service/watcher_process.h"
#include "throttletest/base/error.h"

namespace throttletest::internal {
namespace {

// What the test process knows of its watcher.
struct Link {
  pid_t owner = 0;  // the process that started the watcher; a forked child has none yet
  WatchBoard* board = nullptr;
  UniqueFd alive;  // the write end; its end is our end
};

std::mutex mutex;
// Never destroyed: services may be stopped by destructors of static objects.
Link& TheLink() {
  static Link* const link = new Link;
  return *link;
}

[[noreturn]] void Fail(const char* what) {
  throw Error(ErrorCode::kServiceStart,
              fmt::format("cannot start the watcher that cleans up after kill -9: {}: {}", what,
                          std::strerror(errno)));
}

// A watcher that was killed has closed the only read end.
bool WatcherLives(const Link& link) {
  pollfd entry{.fd = link.alive.get(), .events = 0, .revents = 0};
  return link.alive.valid() && ::poll(&entry, 1, 0) == 0;
}

WatchBoard* NewBoard() {
  void* memory = ::mmap(nullptr, sizeof(WatchBoard), PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) Fail("mmap");
  return new (memory) WatchBoard;
}

// Forks twice, so that the watcher is nobody's child here: a test that waits for "any child" must
// not wait for it, and it must not become a zombie.
void ForkWatcher(WatchBoard* board, int alive_read) {
  const UniqueFd self = OpenProcess(::getpid());
  // Signals are held back until the watcher has its own handlers: the test's must not run in it.
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  const pid_t child = ::fork();
  if (child == 0) {
    const pid_t grandchild = ::_Fork();
    if (grandchild == 0) RunWatcher(board, alive_read, self.get());
    board->watcher.store(grandchild);
    ::_exit(grandchild > 0 ? 0 : 1);
  }
  const int fork_errno = errno;
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  errno = fork_errno;
  if (child < 0) Fail("fork");
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) != 0) {
    errno = EAGAIN;
    Fail("fork");
  }
}

// The link of this very process, with a living watcher behind it.
Link& Connect() {
  Link& link = TheLink();
  if (link.owner != ::getpid()) {
    // After a fork the board belongs to the parent.
    link.board = NewBoard();
    link.owner = ::getpid();
    link.alive.Reset();
  }
  if (WatcherLives(link)) return link;
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) Fail("pipe");
  const UniqueFd read_end(ends[0]);
  UniqueFd write_end(ends[1]);
  ForkWatcher(link.board, read_end.get());
  link.alive = std::move(write_end);
  return link;
}

CleanupAction WithProgramPaths(CleanupAction action) {
  for (auto& command : action.commands) {
    if (command.empty()) continue;
    const auto path = FindProgram(command[0]);
    if (!path) {
      throw Error(ErrorCode::kNoContainerRuntime, fmt::format("{}: not found in PATH", command[0]));
    }
    command[0] = *path;
  }
  return action;
}

}  // namespace

CleanupTicket Watcher::Guard(const CleanupAction& action) {
  const std::string text = EncodeAction(WithProgramPaths(action));
  if (text.size() > WatchSlot::kCapacity) {
    throw Error(ErrorCode::kServiceStart,
                fmt::format("a cleanup of {} bytes does not fit into the watcher's {}", text.size(),
                            WatchSlot::kCapacity));
  }
  const std::lock_guard lock(mutex);
  Link& link = Connect();
  for (int i = 0; i < WatchBoard::kSlots; ++i) {
    WatchSlot& slot = link.board->slots[static_cast<std::size_t>(i)];
    if (slot.state.load() != WatchSlot::kFree) continue;
    slot.state.store(WatchSlot::kFilling);
    std::memcpy(slot.text.data(), text.data(), text.size());
    slot.size = static_cast<std::uint32_t>(text.size());
    slot.state.store(WatchSlot::kArmed, std::memory_order_release);
    return CleanupTicket(i, link.owner);
  }
  throw Error(ErrorCode::kServiceStart,
              fmt::format("more than {} services at once", WatchBoard::kSlots));
}

pid_t Watcher::ProcessId() {
  const std::lock_guard lock(mutex);
  const Link& link = TheLink();
  return link.owner == ::getpid() ? link.board->watcher.load() : 0;
}

CleanupTicket::CleanupTicket(CleanupTicket&& other) noexcept
    : slot_(std::exchange(other.slot_, -1)), owner_(other.owner_) {}

CleanupTicket& CleanupTicket::operator=(CleanupTicket&& other) noexcept {
  if (this != &other) {
    Release();
    slot_ = std::exchange(other.slot_, -1);
    owner_ = other.owner_;
  }
  return *this;
}

void CleanupTicket::Release() {
  const int slot = std::exchange(slot_, -1);
  if (slot < 0 || owner_ != ::getpid()) return;
  const std::lock_guard lock(mutex);
  TheLink().board->slots[static_cast<std::size_t>(slot)].state.store(WatchSlot::kFree);
}

}  // namespace throttletest::internal
