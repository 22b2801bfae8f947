// Fault: why a connection or a request on it came to nothing, and whose fault that is.
#pragma once

#include <string>

namespace throttletest::internal {

struct Fault {
  std::string reason;      // as it appears in LoadResult::failure_reasons
  bool generator = false;  // this machine ran out of something; says nothing about the service
  bool closed = false;     // the service closed or reset the connection
};

// Why a connection could not be opened. Units: an errno value.
Fault ConnectFault(int error);

// Why an open connection broke. Units: an errno value.
Fault BrokenFault(int error);

}  // namespace throttletest::internal
