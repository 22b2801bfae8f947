// A container image's content made from a program of the host, for services without an image.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/unique_fd.h"

namespace throttletest::internal {

// Writes the root file system that `program` needs - itself, loader, libraries, `files`, /tmp,
// minimal /etc/passwd, group and nsswitch.conf - as a tar archive into an unnamed temporary file
// and returns it, rewound. Errors: kServiceStart.
UniqueFd BuildProgramArchive(const std::string& program,
                             const std::map<std::string, std::string>& env,
                             const std::vector<std::string>& files = {});

}  // namespace throttletest::internal
