// gMock matchers on the limits of deployment files.
//
//   EXPECT_THAT(ServicesFromFile(SOURCE_DIR "/compose.yaml"), LimitsFitHost({.cpus = 4}));
#pragma once

#include <gmock/gmock.h>

#include <iosfwd>

#include "throttletest/deploy/audit.h"
#include "throttletest/deploy/deployed_service.h"
#include "throttletest/deploy/deployment_file.h"

namespace throttletest {

using DeployedServicesMatcher = testing::Matcher<const DeployedServices&>;

// Matches when the limits add up to no more than the machine has (or `bounds.max_overcommit` times
// that), none of them is above it, no request is above its limit or the machine, and no more than
// `bounds.max_idle` CPUs are left to nobody. See AuditLimits().
//
// A service without a limit makes it inconclusive: it does not match and fails the test by itself,
// also under Not(...). Errors: kInvalidArgument for a machine or bounds out of range.
DeployedServicesMatcher LimitsFitHost(const AuditHost& host = {}, const AuditBounds& bounds = {});

// For GoogleTest's messages: "web 0.5 CPUs x 2, db no CPU limit".
void PrintTo(const DeployedService& service, std::ostream* os);

}  // namespace throttletest
