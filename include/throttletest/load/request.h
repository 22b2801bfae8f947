// Request: what is sent. Endpoint: where to.
//
//   Get("/burn?ms=20").ExpectStatus(200).Timeout(2s)
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
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
  // A text that an ok answer's body contains, as it is sent: a compressed body is not unpacked.
  // Absent: empty, any body will do.
  std::string expected_body = {};
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
  Request& ExpectBody(std::string text) &;
  Request&& ExpectBody(std::string text) &&;
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

// How an HTTPS service is spoken to. Files are in PEM form.
struct TlsOptions {
  // Whose signature makes a certificate good: a CA, or the service's own self-signed certificate.
  // Absent: empty, the CAs that this machine trusts.
  std::string ca_file = {};
  // Whom the certificate must be for, also what is asked for in the handshake. Absent: empty, the
  // endpoint's host, "localhost" for a Unix socket.
  std::string server_name = {};
  // False: any certificate will do.
  bool verify = true;
  // For a service that wants to know its clients. Absent: both empty.
  std::string cert_file = {};
  std::string key_file = {};
};

// Where the service listens on this machine: a loopback address and a port, or a Unix socket.
struct Endpoint {
  // A loopback address, "127.0.0.1" or "::1". No name service is asked, and "localhost" is
  // 127.0.0.1 always: a service that listens on ::1 alone needs "::1".
  std::string host = "127.0.0.1";
  std::uint16_t port = 0;  // Units: 1..65535
  // The path of a Unix socket, or '@' and its abstract name. Units: at most 107 bytes. Absent:
  // empty, host and port count.
  std::string unix_path = {};
  // HTTPS, TLS 1.2 or later. The handshake is part of opening a connection, so that it is over
  // before a batch starts. Absent: plain HTTP.
  std::optional<TlsOptions> tls = {};

  // "127.0.0.1:8080", "[::1]:8080" or "unix:/run/service.sock".
  std::string ToString() const;
};

// Throws kInvalidArgument, quoting the part, unless connections to it could be opened. Reads the
// files that `tls` names.
void Validate(const Endpoint& endpoint);

}  // namespace throttletest
