// HttpConnection: one connection that carries one HTTP/1.1 request at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "base/unique_fd.h"
#include "load/byte_stream.h"
#include "load/channel.h"
#include "load/http_reader.h"
#include "load/http_transport.h"
#include "load/poller.h"

namespace throttletest::internal {

// The owner may destroy it in any call to its ChannelEvents, so such a call is always the last
// thing that is done with it; what remains to be read is left to Poller::Again().
class HttpConnection : public Channel, private ReadyHandler {
 public:
  HttpConnection(HttpShared& shared, ChannelId id, ChannelEvents& events);
  ~HttpConnection() override;
  HttpConnection(const HttpConnection&) = delete;
  HttpConnection& operator=(const HttpConnection&) = delete;

  bool Send(RequestKind kind) override;

 private:
  enum class State : std::uint8_t { kConnecting, kFailed, kGreeting, kOpen };

  void OnReady(std::uint32_t events) override;
  bool is_unix() const { return shared_.address.family() == AF_UNIX; }
  // Switches the reports of room to write, where they are not on all the time.
  void WatchWrites(bool on);
  // Absent (both): 0 when there was no error, else an errno value.
  int OpenSocket();
  int Connect();
  void FinishConnecting(std::uint32_t events);
  void Greet(std::uint32_t events);
  // Reads later what may have come with `events` already.
  void LeaveReading(std::uint32_t events);
  void WriteMore();
  void WriteRest(std::uint32_t events);
  void Read(std::uint32_t events);
  // `more`: there may be something behind the answer.
  void Answered(std::uint32_t events, bool more);
  void Broken(Fault fault);

  HttpShared& shared_;
  Poller& poller_;
  const HttpExchange* exchange_ = nullptr;  // of the latest request
  const ChannelId id_;
  ChannelEvents& events_;
  State state_ = State::kConnecting;
  UniqueFd fd_;
  std::unique_ptr<ByteStream> stream_;  // on fd_; absent while connecting
  int connect_error_ = 0;               // when kFailed
  std::string_view unwritten_;          // of the current request
  std::optional<Fault> write_fault_;    // nothing more can be written
  HttpReader reader_;
};

}  // namespace throttletest::internal
