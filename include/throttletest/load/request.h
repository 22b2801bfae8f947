// Request: what is sent. Endpoint: where to.
//
//   Get("/burn?ms=20").ExpectStatus(200).Timeout(2s)
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "throttletest/load/transport.h"

namespace throttletest {

// An HTTP/1.1 request template, or a call of another transport. Plain data with chainable setters;
// sent as often as the plan says.
struct Request {
  std::string method = "GET";
  std::string target = "/";  // origin form, "/path?query"
  std::vector<std::pair<std::string, std::string>> headers = {};
  std::string body = {};
  // Statuses that count as ok. Empty: every 2xx.
  std::vector<int> expected_statuses = {};
  // From the INTENDED start until the whole answer is in. Units: > 0, default 10 s.
  std::chrono::nanoseconds timeout = std::chrono::seconds(10);
  // Set: this is called instead of sending HTTP, and method, target, headers, body and statuses
  // mean nothing.
  Transport transport = {};
  // Its name in reports. Empty: method and target.
  std::string label = {};

  // What reports call it.
  std::string ToString() const { return label.empty() ? method + " " + target : label; }

  Request& ExpectStatus(int status) &;
  Request&& ExpectStatus(int status) &&;
  Request& Timeout(std::chrono::nanoseconds timeout) &;
  Request&& Timeout(std::chrono::nanoseconds timeout) &&;
  Request& Header(std::string name, std::string value) &;
  Request&& Header(std::string name, std::string value) &&;
};

// Errors (both): kInvalidArgument when the target does not start with '/' or holds blanks or line
// breaks.
Request Get(std::string target);
Request Post(std::string target, std::string body,
             std::string content_type = "application/octet-stream");
// A request of another protocol. Errors: kInvalidArgument for an empty name or transport.
Request Custom(std::string name, Transport transport);
// Throws kInvalidArgument, naming the part, unless the request can be written as it is.
void Validate(const Request& request);

// A TCP address on this machine. Units: port 1..65535.
struct Endpoint {
  std::string host = "127.0.0.1";
  std::uint16_t port = 0;
};

}  // namespace throttletest
