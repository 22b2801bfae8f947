#include "load/tls_stream.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/x509v3.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstring>
#include <new>
#include <system_error>

namespace throttletest::internal {
namespace {

// OpenSSL's own socket BIO writes with a SIGPIPE when the service is gone.
int SocketWrite(BIO* bio, const char* bytes, int size) {
  BIO_clear_retry_flags(bio);
  const ssize_t n = ::send(static_cast<int>(BIO_get_fd(bio, nullptr)), bytes,
                           static_cast<std::size_t>(size), MSG_NOSIGNAL);
  if (n < 0 && (errno == EAGAIN || errno == EINTR)) BIO_set_retry_write(bio);
  return static_cast<int>(n);
}

BIO_METHOD* SocketMethod() {
  static BIO_METHOD* const method = [] {
    BIO_METHOD* own = BIO_meth_new(BIO_TYPE_SOCKET, "socket without SIGPIPE");
    const BIO_METHOD* base = BIO_s_socket();
    BIO_meth_set_write(own, &SocketWrite);
    BIO_meth_set_read(own, BIO_meth_get_read(base));
    BIO_meth_set_ctrl(own, BIO_meth_get_ctrl(base));
    BIO_meth_set_create(own, BIO_meth_get_create(base));
    BIO_meth_set_destroy(own, BIO_meth_get_destroy(base));
    return own;
  }();
  return method;
}

std::string Printable(const unsigned char* text, int size) {
  std::string out(reinterpret_cast<const char*>(text), static_cast<std::size_t>(size));
  std::replace_if(
      out.begin(), out.end(), [](char c) { return c < 0x20 || c > 0x7e; }, '?');
  return out;
}

// "example.org, 127.0.0.1": whom a certificate is for.
std::string NamesOf(X509* certificate) {
  std::string names;
  auto* all = static_cast<GENERAL_NAMES*>(
      X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr));
  for (int i = 0; i < sk_GENERAL_NAME_num(all) && names.size() < 200; ++i) {
    const GENERAL_NAME* name = sk_GENERAL_NAME_value(all, i);
    std::string text;
    if (name->type == GEN_DNS) {
      text = Printable(ASN1_STRING_get0_data(name->d.dNSName), ASN1_STRING_length(name->d.dNSName));
    } else if (name->type == GEN_IPADD) {
      std::array<char, INET6_ADDRSTRLEN> address{};
      const int family = ASN1_STRING_length(name->d.iPAddress) == 4 ? AF_INET : AF_INET6;
      ::inet_ntop(family, ASN1_STRING_get0_data(name->d.iPAddress), address.data(), address.size());
      text = address.data();
    }
    if (!text.empty()) names += (names.empty() ? "" : ", ") + text;
  }
  GENERAL_NAMES_free(all);
  return names.empty() ? "no name" : names;
}

}  // namespace

std::string ReasonText(unsigned long code) {
  // What the system said has no text of OpenSSL's.
  if (ERR_SYSTEM_ERROR(code)) return std::generic_category().message(ERR_GET_REASON(code));
  const char* reason = ERR_reason_error_string(code);
  return reason == nullptr ? "no reason given" : reason;
}

int NoteVerification(int ok, X509_STORE_CTX* chain) {
  const int error = X509_STORE_CTX_get_error(chain);
  if (ok == 1 ||
      (error != X509_V_ERR_HOSTNAME_MISMATCH && error != X509_V_ERR_IP_ADDRESS_MISMATCH)) {
    return ok;
  }
  auto* ssl =
      static_cast<SSL*>(X509_STORE_CTX_get_ex_data(chain, SSL_get_ex_data_X509_STORE_CTX_idx()));
  auto* stream = static_cast<TlsStream*>(SSL_get_app_data(ssl));
  stream->NoteNames(NamesOf(X509_STORE_CTX_get0_cert(chain)));
  return ok;
}

TlsStream::TlsStream(SSL_CTX* context, const TlsClient& client, int fd)
    : client_(client), ssl_(SSL_new(context)) {
  BIO* bio = BIO_new(SocketMethod());
  if (ssl_ == nullptr || bio == nullptr) throw std::bad_alloc();
  BIO_set_fd(bio, fd, BIO_NOCLOSE);
  SSL_set_bio(ssl_.get(), bio, bio);
  SSL_set_app_data(ssl_.get(), this);
  SSL_set_connect_state(ssl_.get());
  // An address has no place in the handshake (RFC 6066, 3).
  if (!IsAddress(client.name())) SSL_set_tlsext_host_name(ssl_.get(), client.name().c_str());
}

TlsStream::~TlsStream() {
  if (open_) SSL_shutdown(ssl_.get());
  ERR_clear_error();
}

Transfer TlsStream::Greet() {
  ERR_clear_error();
  const int result = SSL_do_handshake(ssl_.get());
  if (result != 1) {
    const Transfer stopped = Stopped(result, "TLS handshake");
    if (stopped.status == Transfer::Status::kBlocked) return stopped;
    if (stopped.status != Transfer::Status::kFailed) {
      fault_ = {.reason = "connection closed in the TLS handshake", .closed = true};
    }
    return {Transfer::Status::kFailed};
  }
  const unsigned char* protocol = nullptr;
  unsigned int size = 0;
  SSL_get0_alpn_selected(ssl_.get(), &protocol, &size);
  if (size > 0 && Printable(protocol, static_cast<int>(size)) != "http/1.1") {
    fault_ = {.reason =
                  fmt::format("TLS handshake with {} failed: it chose the protocol {}",
                              client_.service(), Printable(protocol, static_cast<int>(size)))};
    return {Transfer::Status::kFailed};
  }
  greeted_ = open_ = true;
  return {};
}

Transfer TlsStream::Read(char* room, std::size_t size) {
  ERR_clear_error();
  const int n = SSL_read(ssl_.get(), room, static_cast<int>(std::min<std::size_t>(size, INT_MAX)));
  if (n > 0) return {Transfer::Status::kDone, static_cast<std::size_t>(n)};
  return Stopped(n, "reading");
}

Transfer TlsStream::Write(std::string_view bytes) {
  ERR_clear_error();
  const int n = SSL_write(ssl_.get(), bytes.data(),
                          static_cast<int>(std::min<std::size_t>(bytes.size(), INT_MAX)));
  if (n > 0) return {Transfer::Status::kDone, static_cast<std::size_t>(n)};
  return Stopped(n, "writing");
}

Transfer TlsStream::Stopped(int result, const char* doing) {
  const int error_number = errno;
  switch (SSL_get_error(ssl_.get(), result)) {
    case SSL_ERROR_WANT_READ:
    case SSL_ERROR_WANT_WRITE:
      return {Transfer::Status::kBlocked};
    case SSL_ERROR_ZERO_RETURN:
      return {Transfer::Status::kEnd};
    case SSL_ERROR_SYSCALL:
      open_ = false;
      if (error_number == 0) return {Transfer::Status::kCut};
      fault_ = BrokenFault(error_number);
      return {Transfer::Status::kFailed};
    default:
      break;
  }
  open_ = false;
  const unsigned long code = ERR_peek_error();
  if (ERR_GET_REASON(code) == SSL_R_UNEXPECTED_EOF_WHILE_READING) return {Transfer::Status::kCut};
  fault_ = greeted_
               ? Fault{.reason = fmt::format("TLS error while {}: {}", doing, ReasonText(code))}
               : HandshakeFault(code);
  return {Transfer::Status::kFailed};
}

Fault TlsStream::HandshakeFault(unsigned long code) const {
  const int reason = ERR_GET_REASON(code);
  if (reason == SSL_R_CERTIFICATE_VERIFY_FAILED) {
    return CertificateFault(SSL_get_verify_result(ssl_.get()));
  }
  const char* hint = "";
  if (reason == SSL_R_WRONG_VERSION_NUMBER || reason == SSL_R_HTTP_REQUEST) {
    hint = "; does it speak plain HTTP there?";
  } else if (reason == SSL_R_UNSUPPORTED_PROTOCOL || reason == SSL_R_TLSV1_ALERT_PROTOCOL_VERSION) {
    hint = "; TLS 1.2 or later is needed";
  }
  return {.reason = fmt::format("TLS handshake with {} failed: {}{}", client_.service(),
                                ReasonText(code), hint)};
}

Fault TlsStream::CertificateFault(long verification) const {
  const std::string who = "certificate of " + client_.service();
  switch (verification) {
    case X509_V_ERR_HOSTNAME_MISMATCH:
    case X509_V_ERR_IP_ADDRESS_MISMATCH:
      return {.reason = fmt::format("{} is for {}, not for {}; set server_name to a name in it",
                                    who, names_, client_.name())};
    case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
    case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT:
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
      return {.reason = fmt::format("{} is not trusted: {}; give its CA with ca_file", who,
                                    X509_verify_cert_error_string(verification))};
    case X509_V_ERR_CERT_HAS_EXPIRED:
      return {.reason = who + " has expired; renew it"};
    case X509_V_ERR_CERT_NOT_YET_VALID:
      return {.reason = who + " is not valid yet; is the clock right?"};
    default:
      return {.reason = fmt::format("{} is not accepted: {}", who,
                                    X509_verify_cert_error_string(verification))};
  }
}

}  // namespace throttletest::internal
