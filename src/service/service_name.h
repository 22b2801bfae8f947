// ServiceName: what a service is called in messages.
#pragma once

#include <string>

#include "throttletest/service/service.h"

namespace throttletest::internal {

// Its name, else its image or program; of an attached service what it is ("process 4242 (nginx)").
inline std::string ServiceName(const Service& service) {
  const ServiceSpec& spec = service.spec();
  if (!spec.name.empty()) return spec.name;
  if (!spec.image.empty()) return spec.image;
  return spec.command.empty() ? service.launcher_version() : spec.command.front();
}

}  // namespace throttletest::internal
