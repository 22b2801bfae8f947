#include "service/running_services.h"

#include <mutex>
#include <set>
#include <string>

#include "throttletest/base/error.h"

namespace throttletest::internal {
namespace {

struct List {
  std::mutex mutex;
  std::set<const Service*> services;
};

// Never destroyed: a service may be a static object of a test program.
List& TheList() {
  static List& list = *new List;
  return list;
}

// Where a service's CPU time is read. Absent: empty, it is not.
std::string UsageDirectory(const Service& service) {
  const auto& place = service.cgroup().location().cpuacct;
  return place ? place->directory() : std::string();
}

}  // namespace

ListedService::ListedService(const Service& service) : service_(service) {
  List& list = TheList();
  const std::scoped_lock lock(list.mutex);
  list.services.insert(&service_);
}

ListedService::~ListedService() {
  List& list = TheList();
  const std::scoped_lock lock(list.mutex);
  list.services.erase(&service_);
}

std::map<const Service*, std::chrono::nanoseconds> UsageOfRunningServices(const Service* except) {
  std::map<const Service*, std::chrono::nanoseconds> usages;
  List& list = TheList();
  // Held while reading, so that none is destroyed meanwhile.
  const std::scoped_lock lock(list.mutex);
  std::set<std::string> counted;
  if (except != nullptr) counted.insert(UsageDirectory(*except));
  for (const Service* service : list.services) {
    if (service == except || !counted.insert(UsageDirectory(*service)).second) continue;
    try {
      if (const auto usage = service->cgroup().Read().usage) usages[service] = *usage;
    } catch (const Error&) {
      // It has ended.
    }
  }
  return usages;
}

}  // namespace throttletest::internal
