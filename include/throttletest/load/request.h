// Request: what is sent. Endpoint: where to.
//
//   Get("/burn?ms=20").ExpectStatus(200).Timeout(2s)
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace throttletest {

// An HTTP/1.1 request template. Plain data with chainable setters; sent as often as the plan says.
struct Request {
  std::string method = "GET";
  std::string target = "/";  // origin form, "/path?query"
  std::vector<std::pair<std::string, std::string>> headers = {};
  std::string body = {};
  // Statuses that count as ok. Empty: every 2xx.
  std::vector<int> expected_statuses = {};
  // From the INTENDED start until the whole answer is in. Units: > 0, default 10 s.
  std::chrono::nanoseconds timeout = std::chrono::seconds(10);

  Request& ExpectStatus(int status) &;
  Request&& ExpectStatus(int status) &&;
  Request& Timeout(std::chrono::nanoseconds timeout) &;
  Request&& Timeout(std::chrono::nanoseconds timeout) &&;
  Request& Header(std::string name, std::string value) &;
  Request&& Header(std::string name, std::string value) &&;
};

// Errors (all three): kInvalidArgument when the target does not start with '/' or holds blanks or
// line breaks.
Request Get(std::string target);
Request Post(std::string target, std::string body,
             std::string content_type = "application/octet-stream");
// Throws kInvalidArgument, naming the part, unless the request can be written as it is.
void Validate(const Request& request);

// Where the service listens on this machine: a loopback address and a port, or a Unix socket.
struct Endpoint {
  // A loopback address, "127.0.0.1" or "::1". No name service is asked, and "localhost" is
  // 127.0.0.1 always: a service that listens on ::1 alone needs "::1".
  std::string host = "127.0.0.1";
  std::uint16_t port = 0;  // Units: 1..65535
  // The path of a Unix socket, or '@' and its abstract name. Units: at most 107 bytes. Absent:
  // empty, host and port count.
  std::string unix_path = {};
};

}  // namespace throttletest
