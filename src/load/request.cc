#include "throttletest/load/request.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "base/refuse.h"
#include "base/text.h"
#include "load/body_check.h"
#include "load/request_text.h"
#include "throttletest/base/duration.h"
#include "throttletest/base/error.h"

namespace throttletest {
namespace {

using internal::Lower;
using internal::Quoted;
using internal::Refuse;

// A byte that would end or split a line, or that a proxy may read differently.
bool IsControl(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }

// RFC 9110, 5.6.2: the characters of methods and header names.
bool IsToken(std::string_view text) {
  constexpr std::string_view kMarks = "!#$%&'*+-.^_`|~";
  return !text.empty() && std::all_of(text.begin(), text.end(), [&](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           kMarks.find(c) != std::string_view::npos;
  });
}

void ValidateTarget(std::string_view target) {
  const auto bad = [](char c) { return IsControl(c) || c == ' '; };
  if (!target.starts_with('/')) {
    Refuse(fmt::format("request target {} must start with '/', as in \"/path?query\"",
                       Quoted(target)));
  }
  if (std::any_of(target.begin(), target.end(), bad)) {
    Refuse(fmt::format("request target {} must not hold blanks or control characters: write %20",
                       Quoted(target)));
  }
}

void ValidateHeader(const std::string& name, const std::string& value) {
  if (!IsToken(name)) Refuse(fmt::format("header name {} is not a token", Quoted(name)));
  const auto bad = [](char c) { return IsControl(c) && c != '\t'; };
  if (std::any_of(value.begin(), value.end(), bad)) {
    Refuse(
        fmt::format("value {} of header {} must not hold control characters", Quoted(value), name));
  }
  // Expect would make the service wait for a body that is sent in one piece with the header.
  for (const char* own : {"content-length", "transfer-encoding", "expect"}) {
    if (Lower(name) == own) {
      Refuse(fmt::format("header {} is the engine's own: leave it out", name));
    }
  }
}

bool HasHeader(const Request& request, std::string_view lower_name) {
  return std::any_of(request.headers.begin(), request.headers.end(),
                     [&](const auto& header) { return Lower(header.first) == lower_name; });
}

}  // namespace

Request& Request::ExpectStatus(int status) & {
  expected_statuses.push_back(status);
  return *this;
}
Request&& Request::ExpectStatus(int status) && { return std::move(ExpectStatus(status)); }

Request& Request::ExpectBody(std::string text) & {
  expected_body = std::move(text);
  return *this;
}
Request&& Request::ExpectBody(std::string text) && {
  return std::move(ExpectBody(std::move(text)));
}

Request& Request::Timeout(std::chrono::nanoseconds value) & {
  timeout = value;
  return *this;
}
Request&& Request::Timeout(std::chrono::nanoseconds value) && { return std::move(Timeout(value)); }

Request& Request::Header(std::string name, std::string value) & {
  headers.emplace_back(std::move(name), std::move(value));
  return *this;
}
Request&& Request::Header(std::string name, std::string value) && {
  return std::move(Header(std::move(name), std::move(value)));
}

Request Get(std::string target) {
  ValidateTarget(target);
  Request request;
  request.target = std::move(target);
  return request;
}

Request Post(std::string target, std::string body, std::string content_type) {
  ValidateTarget(target);
  Request request;
  request.method = "POST";
  request.target = std::move(target);
  request.body = std::move(body);
  request.headers.emplace_back("Content-Type", std::move(content_type));
  return request;
}

Request Custom(std::string name, Transport transport) {
  if (name.empty()) Refuse("a custom request needs a name: reports call it by that");
  if (!transport) Refuse(fmt::format("the transport of request {} is empty", Quoted(name)));
  Request request;
  request.label = std::move(name);
  request.transport = std::move(transport);
  return request;
}

void Validate(const Request& request) {
  if (!IsToken(request.method)) {
    Refuse(fmt::format("request method {} is not a token such as GET", Quoted(request.method)));
  }
  if (request.method == "CONNECT") Refuse("request method CONNECT makes a tunnel, not an answer");
  ValidateTarget(request.target);
  for (const auto& [name, value] : request.headers) ValidateHeader(name, value);
  for (const int status : request.expected_statuses) {
    if (status < 200 || status > 599) {
      Refuse(fmt::format("expected status {} is out of range 200..599", status));
    }
  }
  if (request.method == "HEAD" && !request.expected_body.empty()) {
    Refuse(fmt::format("expected body {} cannot come: an answer to HEAD has none",
                       Quoted(request.expected_body)));
  }
  if (request.timeout.count() <= 0) {
    Refuse(fmt::format("request timeout {} ns must be above 0", request.timeout.count()));
  }
}

std::string Endpoint::ToString() const {
  if (!unix_path.empty()) return "unix:" + unix_path;
  const bool bare_v6 = host.find(':') != std::string::npos && !host.starts_with('[');
  return fmt::format("{}:{}", bare_v6 ? "[" + host + "]" : host, port);
}

namespace internal {

std::string RequestText(const Request& request, const Endpoint& endpoint) {
  std::string text = fmt::format("{} {} HTTP/1.1\r\n", request.method, request.target);
  if (!HasHeader(request, "host")) {
    text +=
        fmt::format("Host: {}\r\n", endpoint.unix_path.empty() ? endpoint.ToString() : "localhost");
  }
  if (!HasHeader(request, "connection")) text += "Connection: keep-alive\r\n";
  if (!HasHeader(request, "user-agent")) text += "User-Agent: throttletest\r\n";
  for (const auto& [name, value] : request.headers) text += fmt::format("{}: {}\r\n", name, value);
  // A method that defines a body says its length even when it is empty (RFC 9110, 8.6).
  const bool has_body = !request.body.empty() || request.method == "POST" ||
                        request.method == "PUT" || request.method == "PATCH";
  if (has_body) text += fmt::format("Content-Length: {}\r\n", request.body.size());
  return text + "\r\n" + request.body;
}

bool IsIdempotent(const Request& request) {
  if (request.transport) return false;
  constexpr std::array<std::string_view, 5> kMethods = {"GET", "HEAD", "PUT", "DELETE", "OPTIONS"};
  return std::find(kMethods.begin(), kMethods.end(), request.method) != kMethods.end();
}

bool AsksToClose(const Request& request) {
  return std::any_of(request.headers.begin(), request.headers.end(), [](const auto& header) {
    return Lower(header.first) == "connection" &&
           Lower(header.second).find("close") != std::string::npos;
  });
}

bool IsExpected(const Request& request, int status) {
  if (request.transport) return true;
  if (request.expected_statuses.empty()) return status >= 200 && status <= 299;
  return std::find(request.expected_statuses.begin(), request.expected_statuses.end(), status) !=
         request.expected_statuses.end();
}

}  // namespace internal
}  // namespace throttletest
