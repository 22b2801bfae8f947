#include "load/tls.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <array>

#include "base/refuse.h"
#include "load/tls_stream.h"
#include "throttletest/base/error.h"

namespace throttletest::internal {
namespace {

// The first thing OpenSSL complained of, for people.
std::string Complaint() {
  std::string text = ReasonText(ERR_get_error());
  ERR_clear_error();
  return text;
}

void Trust(SSL_CTX* context, const TlsOptions& options) {
  if (!options.verify) {
    SSL_CTX_set_verify(context, SSL_VERIFY_NONE, nullptr);
    return;
  }
  SSL_CTX_set_verify(context, SSL_VERIFY_PEER, &NoteVerification);
  if (options.ca_file.empty()) {
    SSL_CTX_set_default_verify_paths(context);
  } else if (SSL_CTX_load_verify_file(context, options.ca_file.c_str()) != 1) {
    Refuse(fmt::format("ca_file \"{}\" of the endpoint holds no certificate in PEM form: {}",
                       options.ca_file, Complaint()));
  }
}

void UseOwnCertificate(SSL_CTX* context, const TlsOptions& options) {
  if (options.cert_file.empty() && options.key_file.empty()) return;
  if (options.cert_file.empty() || options.key_file.empty()) {
    Refuse("cert_file and key_file of the endpoint are needed together");
  }
  if (SSL_CTX_use_certificate_chain_file(context, options.cert_file.c_str()) != 1) {
    Refuse(fmt::format("cert_file \"{}\" of the endpoint holds no certificate in PEM form: {}",
                       options.cert_file, Complaint()));
  }
  if (SSL_CTX_use_PrivateKey_file(context, options.key_file.c_str(), SSL_FILETYPE_PEM) != 1) {
    Refuse(fmt::format("key_file \"{}\" of the endpoint is not the key to cert_file \"{}\": {}",
                       options.key_file, options.cert_file, Complaint()));
  }
}

void ExpectName(SSL_CTX* context, const std::string& name) {
  X509_VERIFY_PARAM* param = SSL_CTX_get0_param(context);
  X509_VERIFY_PARAM_set_hostflags(param, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
  const bool known = IsAddress(name)
                         ? X509_VERIFY_PARAM_set1_ip_asc(param, name.c_str()) == 1
                         : X509_VERIFY_PARAM_set1_host(param, name.c_str(), name.size()) == 1;
  constexpr std::size_t kLongestName = 255;
  if (!known || name.size() > kLongestName)
    Refuse(fmt::format("server_name \"{}\" of the endpoint is not a host name", name));
}

std::string WithoutBrackets(const std::string& host) {
  return host.starts_with('[') && host.ends_with(']') ? host.substr(1, host.size() - 2) : host;
}

}  // namespace

bool IsAddress(const std::string& name) {
  std::array<unsigned char, sizeof(in6_addr)> ignored;
  return ::inet_pton(AF_INET, name.c_str(), ignored.data()) == 1 ||
         ::inet_pton(AF_INET6, name.c_str(), ignored.data()) == 1;
}

void TlsClient::Free::operator()(ssl_ctx_st* context) const { SSL_CTX_free(context); }

TlsClient::TlsClient(const Endpoint& endpoint)
    : name_(endpoint.tls->server_name), service_(endpoint.ToString()) {
  if (name_.empty()) {
    name_ = endpoint.unix_path.empty() ? WithoutBrackets(endpoint.host) : "localhost";
  }
  context_.reset(SSL_CTX_new(TLS_client_method()));
  if (context_ == nullptr) throw Error(ErrorCode::kLoad, "no TLS here: " + Complaint());
  SSL_CTX_set_min_proto_version(context_.get(), TLS1_2_VERSION);
  // Buffers of idle connections are given back: a batch may need thousands of them.
  SSL_CTX_set_mode(context_.get(), SSL_MODE_ENABLE_PARTIAL_WRITE |
                                       SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                                       SSL_MODE_RELEASE_BUFFERS);
  // One receive for all that is there, instead of one for each record's head and one for its body.
  SSL_CTX_set_read_ahead(context_.get(), 1);
  SSL_CTX_set_session_cache_mode(context_.get(), SSL_SESS_CACHE_OFF);
  constexpr std::array<unsigned char, 9> kProtocols = {8, 'h', 't', 't', 'p', '/', '1', '.', '1'};
  SSL_CTX_set_alpn_protos(context_.get(), kProtocols.data(), kProtocols.size());
  Trust(context_.get(), *endpoint.tls);
  UseOwnCertificate(context_.get(), *endpoint.tls);
  ExpectName(context_.get(), name_);
}

TlsClient::~TlsClient() = default;

std::unique_ptr<ByteStream> TlsClient::Stream(int fd) const {
  return std::make_unique<TlsStream>(context_.get(), *this, fd);
}

}  // namespace throttletest::internal
