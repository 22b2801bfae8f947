#include "measure/host_reader.h"

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <sstream>
#include <utility>

#include "cgroup/control_file.h"
#include "cgroup/parse.h"
#include "cgroup/unseen.h"
#include "service/running_services.h"
#include "throttletest/base/error.h"
#include "throttletest/cgroup/location.h"

namespace throttletest::internal {
namespace {

using std::chrono::nanoseconds;

// Below it a tick of 10 ms more or less on each CPU is too large a share.
constexpr nanoseconds kShortestWindow = std::chrono::seconds(1);

double Seconds(nanoseconds time) { return std::chrono::duration<double>(time).count(); }

std::optional<HostSnapshot::Cpu> ReadCpu(const std::string& proc_root) {
  std::ifstream file(proc_root + "/stat");
  std::string line;
  std::getline(file, line);
  std::istringstream words(line);
  std::string name;
  // user nice system idle iowait irq softirq steal; guest time is in user time already.
  std::array<std::int64_t, 8> ticks{};
  words >> name;
  for (std::int64_t& value : ticks) words >> value;
  if (!words || name != "cpu") return std::nullopt;
  const nanoseconds tick(1'000'000'000 / ::sysconf(_SC_CLK_TCK));
  return HostSnapshot::Cpu{.busy = tick * (ticks[0] + ticks[1] + ticks[2] + ticks[5] + ticks[6]),
                           .steal = tick * ticks[7]};
}

std::optional<nanoseconds> ReadPressure(const std::string& proc_root) {
  const std::string file = proc_root + "/pressure/cpu";
  try {
    const std::optional<std::string> text = ReadFileIfPresent(file);
    return text ? ParsePressure(*text, file).some : std::nullopt;
  } catch (const Error&) {
    return std::nullopt;  // there, but switched off
  }
}

nanoseconds OwnCpu() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  const auto time = [](const timeval& t) {
    return std::chrono::seconds(t.tv_sec) + std::chrono::microseconds(t.tv_usec);
  };
  return time(usage.ru_utime) + time(usage.ru_stime);
}

// What the services that run at both instants used in between.
nanoseconds ServicesCpu(const HostSnapshot& before, const HostSnapshot& after) {
  nanoseconds used{0};
  for (const auto& [service, cpu] : after.services) {
    const auto earlier = before.services.find(service);
    if (earlier != before.services.end()) used += cpu - earlier->second;
  }
  return used;
}

// Why no share of the machine's CPU time can be told. Empty: it can.
std::string Lack(const HostSnapshot& before, const HostSnapshot& after, int cpus) {
  if (!before.cpu || !after.cpu) return "/proc/stat could not be read";
  if (cpus <= 0) return "the online CPUs are not known";
  if (after.time - before.time >= kShortestWindow) return "";
  return "a window below 1 s is too short: /proc/stat counts in clock ticks";
}

void SetShares(HostActivity& activity, const HostSnapshot& before, const HostSnapshot& after,
               std::optional<nanoseconds> service_cpu, int cpus) {
  const nanoseconds wall = after.time - before.time;
  const std::string lack = Lack(before, after, cpus);
  if (!lack.empty()) {
    activity.steal = activity.others_cpu = activity.most_others_cpu =
        Outcome<double>::NotAvailable(lack);
    return;
  }
  const auto share = [all = Seconds(wall) * cpus](nanoseconds time) {
    return Outcome<double>::Value(std::clamp(Seconds(time) / all, 0.0, 1.0));
  };
  activity.steal = share(after.cpu->steal - before.cpu->steal);
  const nanoseconds most = after.cpu->busy - before.cpu->busy - (after.own_cpu - before.own_cpu) -
                           ServicesCpu(before, after);
  activity.most_others_cpu = share(most - service_cpu.value_or(nanoseconds(0)));
  activity.others_cpu =
      service_cpu ? activity.most_others_cpu
                  : Outcome<double>::NotAvailable("the CPU time of the service is not known");
}

void SetPressure(HostActivity& activity, const HostSnapshot& before, const HostSnapshot& after) {
  const double wall = Seconds(after.time - before.time);
  activity.cpu_pressure =
      before.pressure && after.pressure && wall > 0
          ? Outcome<double>::Value(
                std::clamp(Seconds(*after.pressure - *before.pressure) / wall, 0.0, 1.0))
          : Outcome<double>::NotAvailable("the kernel keeps no pressure information");
}

void SetOwnThrottling(HostActivity& activity, const HostSnapshot& before,
                      const HostSnapshot& after) {
  const std::string& lack = before.own_lack.empty() ? after.own_lack : before.own_lack;
  activity.own_throttled_periods = Outcome<std::int64_t>::NotAvailable(
      lack.empty() ? "no CPU quota is visible above the test process"
                   : "the cgroup of the test process could not be read: " + lack);
  activity.own_unseen = after.own_unseen;
  activity.own_held_by_unseen =
      !lack.empty() || after.own_unseen.empty()
          ? Outcome<nanoseconds>::NotAvailable(
                lack.empty() ? "every level above the test process is visible"
                             : "the cgroup of the test process could not be read: " + lack)
          : HeldByUnseen(before.own_levels, after.own_levels);
  const std::size_t levels = std::min(before.own_levels.size(), after.own_levels.size());
  for (std::size_t i = 0; i < levels; ++i) {
    const CpuLevel& a = before.own_levels[i];
    const CpuLevel& b = after.own_levels[i];
    if (!b.bandwidth || !b.bandwidth->limited() || !a.counters || !b.counters) continue;
    const std::int64_t periods = b.counters->throttled_periods - a.counters->throttled_periods;
    if (periods <= activity.own_throttled_periods.optional().value_or(-1)) continue;
    activity.own_throttled_periods = Outcome<std::int64_t>::Value(periods);
    activity.own_quota = fmt::format("{} ({})", b.path, ToString(*b.bandwidth));
  }
}

}  // namespace

struct HostReader::State {
  std::string proc_root;
  std::optional<Cgroup> own;  // Absent: not found, see `lack`
  std::string lack;
};

HostReader::HostReader(std::string proc_root, const std::string& fs_root)
    : state_(std::make_unique<State>()) {
  state_->proc_root = std::move(proc_root);
  try {
    state_->own = Cgroup::Open(LocateCgroup(::getpid(), state_->proc_root, fs_root), fs_root, true);
  } catch (const Error& e) {
    state_->lack = e.what();
  }
}
HostReader::HostReader(HostReader&&) noexcept = default;
HostReader& HostReader::operator=(HostReader&&) noexcept = default;
HostReader::~HostReader() = default;

HostSnapshot HostReader::Read(const Service* measured) const {
  HostSnapshot snapshot;
  snapshot.time = std::chrono::steady_clock::now();
  snapshot.cpu = ReadCpu(state_->proc_root);
  snapshot.pressure = ReadPressure(state_->proc_root);
  snapshot.own_cpu = OwnCpu();
  snapshot.services = UsageOfRunningServices(measured);
  snapshot.own_lack = state_->lack;
  if (!state_->own) return snapshot;
  try {
    Snapshot own = state_->own->Read();
    snapshot.own_levels = std::move(own.cpu);
    snapshot.own_unseen = std::move(own.unseen);
  } catch (const Error& e) {
    snapshot.own_lack = e.what();
  }
  return snapshot;
}

HostActivity Subtract(const HostSnapshot& before, const HostSnapshot& after,
                      std::optional<nanoseconds> service_cpu, int cpus) {
  HostActivity activity;
  SetShares(activity, before, after, service_cpu, cpus);
  SetPressure(activity, before, after);
  SetOwnThrottling(activity, before, after);
  return activity;
}

}  // namespace throttletest::internal
