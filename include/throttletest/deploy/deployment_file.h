// Services of a deployment file, whatever its kind.
#pragma once

#include <string>

#include "throttletest/deploy/compose.h"
#include "throttletest/deploy/deployed_service.h"
#include "throttletest/deploy/manifest.h"

namespace throttletest {

// The services of a Compose file or a Kubernetes manifest, told apart by what is in it: `services`
// makes a Compose file, `kind` a manifest. `options` are for Compose files.
// Errors: kInvalidArgument with file, line and reason, as ServicesFromCompose() and
// ServicesFromManifest(); a file that is neither.
DeployedServices ServicesFromFile(const std::string& file, const ComposeOptions& options = {});

}  // namespace throttletest
