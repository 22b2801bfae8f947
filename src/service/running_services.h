// RunningServices: which services this process has started and not yet let go of.
#pragma once

#include <chrono>
#include <map>

#include "throttletest/service/service.h"

namespace throttletest::internal {

// Puts `service` on the list for as long as it lives itself. The service must outlive it.
class ListedService {
 public:
  explicit ListedService(const Service& service);
  ListedService(const ListedService&) = delete;
  ListedService& operator=(const ListedService&) = delete;
  ~ListedService();

 private:
  const Service& service_;
};

// CPU time so far of every listed service but `except`; of several in one cgroup (a service that
// was attached to twice) only one is counted, and none when that cgroup is `except`'s. Absent: not
// in the map, for one that has ended or whose machine does not count. Errors: none.
std::map<const Service*, std::chrono::nanoseconds> UsageOfRunningServices(const Service* except);

}  // namespace throttletest::internal
