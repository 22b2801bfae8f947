#include "service/watcher_process.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>

#include "service/reaper.h"

namespace throttletest::internal {
namespace {

constexpr std::int64_t kCommandMs = 20'000;
constexpr std::int64_t kReapMs = 10'000;
constexpr std::int64_t kSettleMs = 1000;
// Where the two descriptors that are kept end up.
constexpr int kAliveFd = 3;
constexpr int kParentFd = 4;

void CloseFrom(int first) {
#ifdef SYS_close_range
  if (::syscall(SYS_close_range, first, ~0U, 0) == 0) return;
#endif
  constexpr int kMany = 4096;  // kernels before 5.9
  for (int fd = first; fd < kMany; ++fd) ::close(fd);
}

// Keeps `alive` and `parent`, puts the three streams on /dev/null and closes everything else: the
// watcher outlives the test process, and whoever waits for the end of its output, its lock file or
// its listening socket must not wait for the watcher.
void KeepOnly(int alive, int parent) {
  constexpr int kSafe = 64;  // out of the way of the numbers that are about to be reused
  const int alive_copy = ::fcntl(alive, F_DUPFD, kSafe);
  const int parent_copy = parent >= 0 ? ::fcntl(parent, F_DUPFD, kSafe) : -1;
  const int null = ::open("/dev/null", O_RDWR);
  for (int fd = 0; fd < 3; ++fd) ::dup2(null, fd);
  ::dup2(alive_copy, kAliveFd);
  if (parent_copy >= 0) {
    ::dup2(parent_copy, kParentFd);
  } else {
    ::close(kParentFd);
  }
  CloseFrom(kParentFd + 1);
}

void IgnoreTerminal() {
  ::setsid();
  for (const int signal : {SIGINT, SIGHUP, SIGTERM, SIGQUIT, SIGPIPE, SIGTSTP}) {
    ::signal(signal, SIG_IGN);
  }
  for (const int signal : {SIGCHLD, SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGALRM, SIGUSR1}) {
    ::signal(signal, SIG_DFL);
  }
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

void WaitForTheEnd() {
  while (true) {
    std::array<pollfd, 2> watched = {
        {{.fd = kAliveFd, .events = POLLIN, .revents = 0},
         // Absent on kernels before 5.3, where poll answers POLLNVAL; the pipe is enough then,
         // unless a child that the test process forked holds it open.
         {.fd = kParentFd, .events = POLLIN, .revents = 0}}};
    if (::poll(watched.data(), watched.size(), -1) < 0) {
      if (errno == EINTR) continue;
      return;
    }
    if (watched[0].revents != 0 || (watched[1].revents & POLLIN) != 0) return;
    SleepMs(50);  // only POLLNVAL: do not spin
  }
}

// Runs one command and waits for it, but not for ever.
void RunCommand(const char* const* words) {
  const pid_t child = ::_Fork();
  if (child == 0) {
    for (const int signal : {SIGINT, SIGHUP, SIGTERM, SIGQUIT, SIGPIPE, SIGTSTP}) {
      ::signal(signal, SIG_DFL);
    }
    CloseFrom(3);
    ::execve(words[0], const_cast<char* const*>(words + 1), ::environ);
    ::_exit(127);
  }
  if (child < 0) return;
  const std::int64_t end = NowMs() + kCommandMs;
  while (::waitpid(child, nullptr, WNOHANG) == 0) {
    if (NowMs() >= end) {
      ::kill(child, SIGKILL);
      ::waitpid(child, nullptr, 0);
      return;
    }
    SleepMs(10);
  }
}

template <typename Visit>
void ForEachRecord(WatchBoard* board, const Visit& visit) {
  for (WatchSlot& slot : board->slots) {
    if (slot.state.load(std::memory_order_acquire) != WatchSlot::kArmed) continue;
    if (slot.size > slot.text.size()) continue;
    ActionReader reader(slot.text.data(), slot.size);
    while (reader.Next()) visit(reader);
  }
}

}  // namespace

std::string EncodeAction(const CleanupAction& action) {
  std::string text;
  const auto word = [&text](std::string_view value) {
    text.append(value);
    text.push_back('\0');
  };
  for (const std::string& directory : action.cgroup_dirs) {
    word("D");
    word(directory);
  }
  for (const std::vector<std::string>& command : action.commands) {
    if (command.empty()) continue;
    word("C");
    word(std::to_string(command.size() + 1));
    word(command[0]);
    for (const std::string& argument : command) word(argument);
  }
  return text;
}

const char* ActionReader::Word() {
  const auto left = static_cast<std::size_t>(end_ - at_);
  const void* zero = std::memchr(at_, '\0', left);
  if (zero == nullptr) return nullptr;
  const char* word = at_;
  at_ = static_cast<const char*>(zero) + 1;
  return word;
}

bool ActionReader::Next() {
  directory_ = nullptr;
  const char* kind = at_ == end_ ? nullptr : Word();
  if (kind == nullptr) return false;
  if (kind[0] == 'D') {
    directory_ = Word();
    return directory_ != nullptr;
  }
  const char* count_text = kind[0] == 'C' ? Word() : nullptr;
  if (count_text == nullptr) return false;
  std::size_t count = 0;
  for (const char* c = count_text; *c >= '0' && *c <= '9' && count <= kMaxWords; ++c) {
    count = count * 10 + static_cast<std::size_t>(*c - '0');
  }
  if (count < 2 || count > kMaxWords) return false;
  for (std::size_t i = 0; i < count; ++i) {
    words_[i] = Word();
    if (words_[i] == nullptr) return false;
  }
  words_[count] = nullptr;
  return true;
}

void RunWatcher(WatchBoard* board, int alive, int parent) {
  KeepOnly(alive, parent);
  IgnoreTerminal();
  ::prctl(PR_SET_NAME, "throttletest-w");
  // Not where a mount or a folder that is to be removed would be kept busy.
  [[maybe_unused]] const int moved = ::chdir("/");
  WaitForTheEnd();
  ForEachRecord(board, [](const ActionReader& record) {
    if (record.directory() != nullptr) ReapCgroup(record.directory(), kReapMs);
  });
  // Twice: an engine may still be making what the dead process had asked it for.
  for (int pass = 0; pass < 2; ++pass) {
    bool any = false;
    ForEachRecord(board, [&any](const ActionReader& record) {
      if (record.command() == nullptr) return;
      any = true;
      RunCommand(record.command());
    });
    if (!any) break;
    if (pass == 0) SleepMs(kSettleMs);
  }
  ::_exit(0);
}

}  // namespace throttletest::internal
