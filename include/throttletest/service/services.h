// StartServices: several systems under test at once, each under limits of its own.
//
//   const auto services = StartServices({{.name = "light", .command = {...}, .limits = {.cpus =
//   0.5}},
//                                        {.name = "heavy", .command = {...}, .limits = {.cpus =
//                                        1}}});
//   MeasureService(*services[0], ...);
#pragma once

#include <memory>
#include <stop_token>
#include <vector>

#include "throttletest/service/service.h"

namespace throttletest {

// Starts all of them at the same time and returns, in their order, when every one is ready and
// every limit is in force. So they share the machine's CPUs while they start, as they would when a
// deployment comes up.
//
// When one of them fails, the others are stopped and what they made is removed before the exception
// leaves: that of the one that failed first, with its name in front. Errors: kInvalidArgument
// before anything is started, also for a list that is empty, a service without a name and two of
// one name; else as StartService().
std::vector<std::unique_ptr<Service>> StartServices(const std::vector<ServiceSpec>& specs,
                                                    const std::stop_token& stop = {});

}  // namespace throttletest
