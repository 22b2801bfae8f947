// The bytes of a request, written once and sent as they are.
#pragma once

#include <string>

#include "throttletest/load/request.h"

namespace throttletest::internal {

// The whole HTTP/1.1 message. The request must be valid.
std::string RequestText(const Request& request, const Endpoint& endpoint);

// True when sending it twice does no more than sending it once (RFC 9110, 9.2.2), so that a request
// lost with a stale connection may be sent again.
bool IsIdempotent(const Request& request);

// True when the request itself says "Connection: close".
bool AsksToClose(const Request& request);

// True when `status` counts as ok.
bool IsExpected(const Request& request, int status);

}  // namespace throttletest::internal
