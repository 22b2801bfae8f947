#include "service/engine_oom.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <string_view>
#include <thread>

#include "base/number.h"
#include "base/text.h"
#include "base/unique_fd.h"

namespace throttletest::internal {
namespace {

// The count after the key oom_kill. Absent: the file cannot be read (any more) or has no such key.
// Source: v2 memory.events, v1 memory.oom_control.
std::optional<std::int64_t> ReadOomKills(int fd) {
  std::array<char, 4096> buffer{};
  const ssize_t size = ::pread(fd, buffer.data(), buffer.size(), 0);
  if (size <= 0) return std::nullopt;
  std::string_view rest(buffer.data(), static_cast<std::size_t>(size));
  constexpr std::string_view kKey = "oom_kill ";
  while (!rest.empty()) {
    const auto end = rest.find('\n');
    const std::string_view line = rest.substr(0, end);
    if (line.rfind(kKey, 0) == 0) return ParseInteger<std::int64_t>(Trim(line.substr(kKey.size())));
    rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
  }
  return std::nullopt;
}

UniqueFd OpenFile(const std::string& path) {
  return UniqueFd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
}

// Asks the kernel to count events of v1 file `name` into an eventfd. Absent: invalid, refused.
UniqueFd Register(const std::string& directory, const char* name, const char* argument) {
  UniqueFd events(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  const UniqueFd file = OpenFile(directory + "/" + name);
  const UniqueFd control(
      ::open((directory + "/cgroup.event_control").c_str(), O_WRONLY | O_CLOEXEC));
  if (!events.valid() || !file.valid() || !control.valid()) return {};
  const std::string line = fmt::format("{} {} {}", events.get(), file.get(), argument);
  const ssize_t written = ::write(control.get(), line.data(), line.size());
  return written == static_cast<ssize_t>(line.size()) ? std::move(events) : UniqueFd();
}

}  // namespace

struct OomWatch::State {
  UniqueFd counter;  // of the container's cgroup
  UniqueFd parent;   // v2: counts its children too, and stays
  std::optional<std::int64_t> parent_before;
  // v1: the kernel adds one for each OOM, and one when the cgroup goes. The other is for a memory
  // threshold that is never reached: it tells that removal was signalled, and being registered
  // first, it is signalled last.
  UniqueFd oom_events;
  UniqueFd removal;
  std::int64_t seen = 0;       // highest count read
  std::int64_t signalled = 0;  // sum of what oom_events delivered
  bool removed = false;

  std::int64_t Drain(const UniqueFd& events) {
    std::uint64_t value = 0;
    const bool got = events.valid() && ::read(events.get(), &value, sizeof value) == sizeof value;
    return got ? static_cast<std::int64_t>(value) : 0;
  }

  // Whether v1's notification was delivered. Absent: no notification, or its removal is pending.
  std::optional<bool> NotifiedOfOom() {
    if (!oom_events.valid() || !removal.valid()) return std::nullopt;
    struct pollfd wait = {.fd = removal.get(), .events = POLLIN, .revents = 0};
    constexpr int kRemovalWithinMs = 500;
    if (!removed && ::poll(&wait, 1, kRemovalWithinMs) == 1) {
      removed = Drain(removal) > 0;
      // Both are signalled from work queues, whose items may overlap.
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    signalled += Drain(oom_events);
    if (!removed) return signalled > 0 ? std::optional(true) : std::nullopt;
    return signalled > 1;
  }

  // Whether v2's parent counted a kill, in this container or beside it.
  std::optional<bool> ParentCounted() const {
    const auto now = parent.valid() ? ReadOomKills(parent.get()) : std::nullopt;
    if (!now || !parent_before) return std::nullopt;
    return *now > *parent_before;
  }
};

OomWatch::OomWatch(const CgroupLocation& location, const std::string& fs_root)
    : state_(std::make_unique<State>()) {
  if (!location.memory) return;
  const std::string directory = fs_root + location.memory->directory();
  if (location.memory->version == CgroupVersion::kV2) {
    state_->counter = OpenFile(directory + "/memory.events");
    state_->parent = OpenFile(directory + "/../memory.events");
    if (state_->parent.valid()) state_->parent_before = ReadOomKills(state_->parent.get());
    return;
  }
  state_->counter = OpenFile(directory + "/memory.oom_control");
  state_->removal = Register(directory, "memory.usage_in_bytes", "9223372036854771712");
  state_->oom_events = Register(directory, "memory.oom_control", "");
}

OomWatch::OomWatch(OomWatch&&) noexcept = default;
OomWatch& OomWatch::operator=(OomWatch&&) noexcept = default;
OomWatch::~OomWatch() = default;

std::optional<std::int64_t> OomWatch::Count(std::optional<bool> engine_says) {
  State& state = *state_;
  const auto now = state.counter.valid() ? ReadOomKills(state.counter.get()) : std::nullopt;
  if (now) {
    state.seen = std::max(state.seen, *now);
    return state.seen;
  }
  if (state.seen > 0) return state.seen;
  if (engine_says.value_or(false)) return 1;
  if (const auto notified = state.NotifiedOfOom()) return *notified ? 1 : 0;
  // A kill beside the container would count there too, so only "none" is certain.
  if (const auto counted = state.ParentCounted(); counted && !*counted) return 0;
  return std::nullopt;
}

}  // namespace throttletest::internal
