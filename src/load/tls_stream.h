// TlsStream: one connection's encrypted bytes.
#pragma once

#include <openssl/ssl.h>

#include <memory>
#include <string>
#include <string_view>

#include "load/byte_stream.h"
#include "load/tls.h"

namespace throttletest::internal {

class TlsStream : public ByteStream {
 public:
  TlsStream(SSL_CTX* context, const TlsClient& client, int fd);
  // Says goodbye if that can be done without waiting.
  ~TlsStream() override;
  TlsStream(const TlsStream&) = delete;
  TlsStream& operator=(const TlsStream&) = delete;

  Transfer Greet() override;
  Transfer Read(char* room, std::size_t size) override;
  Transfer Write(std::string_view bytes) override;
  Fault fault() const override { return fault_; }
  bool read_until_blocked() const override { return true; }

  // The names in a certificate that is for somebody else.
  void NoteNames(std::string names) { names_ = std::move(names); }

 private:
  struct Free {
    void operator()(SSL* ssl) const { SSL_free(ssl); }
  };

  // What the result of an operation means. `doing`: for the message.
  Transfer Stopped(int result, const char* doing);
  Fault HandshakeFault(unsigned long code) const;
  Fault CertificateFault(long verification) const;

  const TlsClient& client_;
  std::unique_ptr<SSL, Free> ssl_;
  bool greeted_ = false;
  bool open_ = false;  // greeted, and not failed since
  std::string names_;
  Fault fault_;
};

// True for an IPv4 or IPv6 address, which certificates name apart from host names.
bool IsAddress(const std::string& name);

// An error code of OpenSSL, for people.
std::string ReasonText(unsigned long code);

// OpenSSL's callback for every certificate of a chain: tells the stream whom it is for.
int NoteVerification(int ok, X509_STORE_CTX* chain);

}  // namespace throttletest::internal
