#include "support/tls_server.h"

#include <arpa/inet.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <csignal>
#include <stdexcept>

namespace throttletest::testing_support {
namespace {

void Check(bool ok, const char* what) {
  if (!ok) throw std::runtime_error(std::string("OpenSSL: ") + what);
}

bool IsAddress(const std::string& name) {
  unsigned char ignored[sizeof(in6_addr)];
  return ::inet_pton(AF_INET, name.c_str(), ignored) == 1 ||
         ::inet_pton(AF_INET6, name.c_str(), ignored) == 1;
}

void AddExtension(X509* certificate, X509* issuer, int kind, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, &context, kind, value.c_str());
  Check(extension != nullptr, "extension");
  X509_add_ext(certificate, extension, -1);
  X509_EXTENSION_free(extension);
}

std::string AlternativeNames(const std::vector<std::string>& names) {
  std::string all;
  for (const std::string& name : names) {
    all += (all.empty() ? "" : ",") + std::string(IsAddress(name) ? "IP:" : "DNS:") + name;
  }
  return all;
}

template <typename Write>
std::string Pem(Write write) {
  BIO* memory = BIO_new(BIO_s_mem());
  write(memory);
  char* text = nullptr;
  const long size = BIO_get_mem_data(memory, &text);
  std::string pem(text, static_cast<std::size_t>(size));
  BIO_free(memory);
  return pem;
}

class TlsWire : public Wire {
 public:
  TlsWire(SSL* ssl, bool goodbye) : ssl_(ssl, SSL_free), goodbye_(goodbye) {}
  ~TlsWire() override {
    if (goodbye_) SSL_shutdown(ssl_.get());
  }
  ssize_t Receive(char* room, std::size_t size) override {
    return SSL_read(ssl_.get(), room, static_cast<int>(size));
  }
  ssize_t Send(std::string_view bytes) override {
    return SSL_write(ssl_.get(), bytes.data(), static_cast<int>(bytes.size()));
  }

 private:
  std::shared_ptr<SSL> ssl_;
  bool goodbye_;
};

int Choose(SSL*, const unsigned char** out, unsigned char* size, const unsigned char*, unsigned int,
           void* protocol) {
  const auto* text = static_cast<const std::string*>(protocol);
  *out = reinterpret_cast<const unsigned char*>(text->data());
  *size = static_cast<unsigned char>(text->size());
  return SSL_TLSEXT_ERR_OK;
}

std::shared_ptr<SSL_CTX> Context(const Identity& identity, const TlsServerOptions& options) {
  std::shared_ptr<SSL_CTX> context(SSL_CTX_new(TLS_server_method()), SSL_CTX_free);
  Check(SSL_CTX_use_certificate(context.get(), identity.certificate()) == 1, "certificate");
  Check(SSL_CTX_use_PrivateKey(context.get(), identity.key()) == 1, "key");
  // The callback only reads it.
  SSL_CTX_set_alpn_select_cb(context.get(), &Choose, const_cast<std::string*>(&options.protocol));
  if (options.clients != nullptr) {
    X509_STORE_add_cert(SSL_CTX_get_cert_store(context.get()), options.clients->certificate());
    SSL_CTX_set_verify(context.get(), SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
  }
  return context;
}

}  // namespace

Identity Identity::SelfSigned(const std::vector<std::string>& names, Validity validity) {
  return Make(names, validity, nullptr);
}

Identity Identity::Issue(const std::vector<std::string>& names) const {
  return Make(names, {}, this);
}

Identity Identity::Make(const std::vector<std::string>& names, Validity validity,
                        const Identity* issuer) {
  Identity made;
  made.key_.reset(EVP_EC_gen("P-256"), EVP_PKEY_free);
  made.certificate_.reset(X509_new(), X509_free);
  X509* certificate = made.certificate();
  if (issuer == nullptr) issuer = &made;
  static long serial = 1;
  X509_set_version(certificate, X509_VERSION_3);
  ASN1_INTEGER_set(X509_get_serialNumber(certificate), ++serial);
  X509_gmtime_adj(X509_getm_notBefore(certificate), validity.from_hours * 3600);
  X509_gmtime_adj(X509_getm_notAfter(certificate), validity.to_hours * 3600);
  X509_set_pubkey(certificate, made.key());
  const std::string subject = "test " + std::to_string(serial);
  X509_NAME_add_entry_by_txt(X509_get_subject_name(certificate), "CN", MBSTRING_ASC,
                             reinterpret_cast<const unsigned char*>(subject.c_str()), -1, -1, 0);
  X509_set_issuer_name(certificate, X509_get_subject_name(issuer->certificate()));
  if (!names.empty()) {
    AddExtension(certificate, issuer->certificate(), NID_subject_alt_name, AlternativeNames(names));
  }
  AddExtension(certificate, issuer->certificate(), NID_basic_constraints, "critical,CA:TRUE");
  Check(X509_sign(certificate, issuer->key(), EVP_sha256()) != 0, "sign");
  return made;
}

std::string Identity::certificate_pem() const {
  return Pem([this](BIO* out) { PEM_write_bio_X509(out, certificate()); });
}

std::string Identity::key_pem() const {
  return Pem([this](BIO* out) {
    PEM_write_bio_PrivateKey(out, key(), nullptr, nullptr, 0, nullptr, nullptr);
  });
}

bool StartTls(Peer& peer, const Identity& identity, const TlsServerOptions& options) {
  // OpenSSL writes with write(): a client that is gone must not end the test with SIGPIPE.
  sigset_t pipe;
  sigemptyset(&pipe);
  sigaddset(&pipe, SIGPIPE);
  pthread_sigmask(SIG_BLOCK, &pipe, nullptr);
  const std::shared_ptr<SSL_CTX> context = Context(identity, options);
  SSL* ssl = SSL_new(context.get());
  SSL_set_fd(ssl, peer.fd());
  auto wire = std::make_unique<TlsWire>(ssl, options.goodbye);
  if (SSL_accept(ssl) != 1) return false;
  peer.Use(std::move(wire));
  return true;
}

}  // namespace throttletest::testing_support
