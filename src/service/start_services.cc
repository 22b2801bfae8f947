#include <fmt/format.h>

#include <exception>
#include <functional>
#include <mutex>
#include <optional>
#include <set>
#include <thread>
#include <utility>

#include "base/refuse.h"
#include "service/host_turn.h"
#include "service/spec_check.h"
#include "throttletest/base/error.h"
#include "throttletest/cgroup/location.h"
#include "throttletest/service/services.h"

namespace throttletest {
namespace {

Error WithName(const ServiceSpec& spec, const Error& error) {
  return Error(error.code(), fmt::format("service \"{}\": {}", spec.name, error.what()));
}

void RequireNames(const std::vector<ServiceSpec>& specs) {
  if (specs.empty()) internal::Refuse("there is no service to start: give at least one");
  std::set<std::string> names;
  for (const ServiceSpec& spec : specs) {
    if (spec.name.empty()) {
      internal::Refuse(
          fmt::format("service {} of {} that start together has no name: set "
                      "ServiceSpec::name",
                      &spec - specs.data() + 1, specs.size()));
    }
    if (!names.insert(spec.name).second) {
      internal::Refuse(
          fmt::format("two services that start together are named \"{}\": give each "
                      "a name of its own",
                      spec.name));
    }
  }
}

// The last one's mistake would otherwise show only while the first runs already.
void RequireSpec(const ServiceSpec& spec) {
  try {
    const bool any = spec.launcher == LauncherKind::kAuto;
    internal::CheckSpec(spec, any ? ResolveAuto(spec) : spec.launcher);
    ResolveLimits(spec.limits, OnlineCpus());
  } catch (const Error& error) {
    throw WithName(spec, error);
  }
}

// One start each, in a thread of its own. The first failure stops the others.
class Starts {
 public:
  Starts(const std::vector<ServiceSpec>& specs, const std::stop_token& stop)
      : on_stop_(stop, [this] { stop_.request_stop(); }), services_(specs.size()) {
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < specs.size(); ++i) {
      threads.emplace_back([this, &spec = specs[i], &made = services_[i]] { Start(spec, made); });
    }
  }

  // Errors: that of the one that failed first.
  std::vector<std::unique_ptr<Service>> Take() {
    if (!failure_) return std::move(services_);
    services_.clear();
    std::rethrow_exception(failure_);
  }

 private:
  void Start(const ServiceSpec& spec, std::unique_ptr<Service>& made) {
    try {
      made = StartService(spec, stop_.get_token());
    } catch (const Error& error) {
      Fail(std::make_exception_ptr(WithName(spec, error)));
    } catch (...) {
      Fail(std::current_exception());
    }
  }

  void Fail(std::exception_ptr failure) {
    const std::lock_guard lock(mutex_);
    if (!failure_) failure_ = std::move(failure);
    stop_.request_stop();
  }

  std::stop_source stop_;
  std::stop_callback<std::function<void()>> on_stop_;
  std::mutex mutex_;
  std::exception_ptr failure_;
  std::vector<std::unique_ptr<Service>> services_;
};

}  // namespace

std::vector<std::unique_ptr<Service>> StartServices(const std::vector<ServiceSpec>& specs,
                                                    const std::stop_token& stop) {
  RequireNames(specs);
  for (const ServiceSpec& spec : specs) RequireSpec(spec);
  // All of them are one turn: no other process comes in between.
  const internal::HostTurn turn(stop);
  return Starts(specs, stop).Take();
}

}  // namespace throttletest
