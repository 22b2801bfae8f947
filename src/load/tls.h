// TlsClient: makes encrypted streams of sockets, with OpenSSL.
#pragma once

#include <memory>
#include <string>

#include "load/byte_stream.h"
#include "throttletest/load/request.h"

struct ssl_ctx_st;

namespace throttletest::internal {

// What the connections to one endpoint share.
class TlsClient {
 public:
  // Only for an endpoint with `tls`. Errors: kInvalidArgument quoting the file that is of no use.
  explicit TlsClient(const Endpoint& endpoint);
  ~TlsClient();
  TlsClient(const TlsClient&) = delete;
  TlsClient& operator=(const TlsClient&) = delete;

  // The handshake is its Greet(). The descriptor and the client must outlive it.
  std::unique_ptr<ByteStream> Stream(int fd) const;

  // Whom the certificate must be for, and what messages call the service.
  const std::string& name() const { return name_; }
  const std::string& service() const { return service_; }

 private:
  struct Free {
    void operator()(ssl_ctx_st* context) const;
  };

  std::string name_;
  std::string service_;
  std::unique_ptr<ssl_ctx_st, Free> context_;
};

}  // namespace throttletest::internal
