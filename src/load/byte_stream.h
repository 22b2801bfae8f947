// ByteStream: the bytes of one connection, plain or encrypted, never waiting. What carries requests
// knows sockets and TLS only through this.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "load/fault.h"

namespace throttletest::internal {

// How far an operation came.
struct Transfer {
  enum class Status : std::uint8_t {
    kDone,     // `bytes` were moved, at least one
    kBlocked,  // nothing can be moved before the descriptor is ready again
    kEnd,      // the service closed its side
    kCut,      // its side ended without the goodbye that the protocol asks for, as after a crash
    kFailed,   // see fault()
  };
  Status status = Status::kDone;
  std::size_t bytes = 0;
};

class ByteStream {
 public:
  virtual ~ByteStream() = default;
  // Goes on with what comes before the first byte of a request. kDone: it is over.
  virtual Transfer Greet() = 0;
  virtual Transfer Read(char* room, std::size_t size) = 0;
  virtual Transfer Write(std::string_view bytes) = 0;
  // After kFailed.
  virtual Fault fault() const = 0;
  // True when bytes may be ready that the kernel will not report as new, unless Read() said
  // kBlocked. False: a Read() that leaves room has taken everything.
  virtual bool read_until_blocked() const = 0;
};

// The bytes of a connected socket as they are. The descriptor must outlive it.
std::unique_ptr<ByteStream> PlainStream(int fd);

}  // namespace throttletest::internal
