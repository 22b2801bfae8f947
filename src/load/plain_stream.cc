#include <sys/socket.h>

#include <cerrno>

#include "load/byte_stream.h"

namespace throttletest::internal {
namespace {

class SocketStream : public ByteStream {
 public:
  explicit SocketStream(int fd) : fd_(fd) {}

  Transfer Greet() override { return {}; }
  Transfer Read(char* room, std::size_t size) override {
    const ssize_t n = ::recv(fd_, room, size, 0);
    return n == 0 ? Transfer{Transfer::Status::kEnd} : Result(n);
  }
  Transfer Write(std::string_view bytes) override {
    return Result(::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL));
  }
  Fault fault() const override { return BrokenFault(error_); }
  bool read_until_blocked() const override { return false; }

 private:
  Transfer Result(ssize_t n) {
    if (n >= 0) return {Transfer::Status::kDone, static_cast<std::size_t>(n)};
    if (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR) {
      return {Transfer::Status::kBlocked};
    }
    error_ = errno;
    return {Transfer::Status::kFailed};
  }

  int fd_;
  int error_ = 0;
};

}  // namespace

std::unique_ptr<ByteStream> PlainStream(int fd) { return std::make_unique<SocketStream>(fd); }

}  // namespace throttletest::internal
