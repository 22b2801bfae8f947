// The service's side of TLS for tests: certificates made on the spot, and a Wire for a Peer.
//
//   const Identity identity = Identity::SelfSigned({"localhost"});
//   ScriptServer server([&](Peer& peer) {
//     if (!StartTls(peer, identity)) return;
//     while (peer.ReadRequest()) peer.Send(kEmptyAnswer);
//   });
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "support/script_server.h"

struct evp_pkey_st;
struct x509_st;

namespace throttletest::testing_support {

// From when to when a certificate is good. Units: hours from now.
struct Validity {
  long from_hours = -1;
  long to_hours = 1;
};

// A certificate and its key.
class Identity {
 public:
  // Units: names: host names and addresses.
  static Identity SelfSigned(const std::vector<std::string>& names, Validity validity = {});
  // Signed by this one.
  Identity Issue(const std::vector<std::string>& names) const;

  x509_st* certificate() const { return certificate_.get(); }
  evp_pkey_st* key() const { return key_.get(); }
  std::string certificate_pem() const;
  std::string key_pem() const;

 private:
  static Identity Make(const std::vector<std::string>& names, Validity validity,
                       const Identity* issuer);

  std::shared_ptr<x509_st> certificate_;
  std::shared_ptr<evp_pkey_st> key_;
};

struct TlsServerOptions {
  bool goodbye = true;                // say close_notify at the end
  const Identity* clients = nullptr;  // only clients whose certificate this one has signed
  std::string protocol = "http/1.1";  // chosen in the handshake whatever was offered
};

// The handshake. False: it failed.
bool StartTls(Peer& peer, const Identity& identity, const TlsServerOptions& options = {});

}  // namespace throttletest::testing_support
