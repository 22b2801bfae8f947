#include "load/http_connection.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <cerrno>
#include <chrono>

namespace throttletest::internal {
namespace {

using Status = Transfer::Status;

// A TCP socket becomes writable when it is connected and when there is room after a write that did
// not fit, but a Unix socket every time the service has read something: watched only when wanted.
constexpr std::uint32_t kRead = EPOLLIN | EPOLLRDHUP;
constexpr std::uint32_t kReadAndWrite = kRead | EPOLLOUT;

// There may be more to come than a read that leaves room has taken.
constexpr std::uint32_t kClosing = EPOLLRDHUP | EPOLLHUP | EPOLLERR;

// A Unix socket whose listener has no room says so instead of waiting for it.
constexpr auto kConnectPause = std::chrono::milliseconds(1);

// A body that comes as fast as it is read must not keep the schedule waiting.
constexpr int kReadsPerTurn = 4;

}  // namespace

HttpConnection::HttpConnection(HttpShared& shared, ChannelId id, ChannelEvents& events)
    : shared_(shared), poller_(shared.poller), id_(id), events_(events), reader_(shared.scratch) {
  connect_error_ = OpenSocket();
  if (connect_error_ == 0) connect_error_ = Connect();
  if (connect_error_ == 0) return;
  state_ = State::kFailed;
  poller_.Again(*this, 0);
}

HttpConnection::~HttpConnection() { poller_.Forget(fd_.get(), *this); }

int HttpConnection::OpenSocket() {
  fd_.Reset(::socket(shared_.address.family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!fd_.valid()) return errno;
  if (is_unix()) return 0;
  // A request of more than one segment must not wait for the acknowledgement of the one before.
  const int on = 1;
  ::setsockopt(fd_.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  return 0;
}

// Even a connect that succeeds at once is reported by the poller, because the socket is writable.
int HttpConnection::Connect() {
  const bool connected = ::connect(fd_.get(), shared_.address.get(), shared_.address.size) == 0;
  if (connected || errno == EINPROGRESS || errno == EINTR) {
    return poller_.Watch(fd_.get(), kReadAndWrite, *this);
  }
  if (errno != EAGAIN || !is_unix()) return errno;
  poller_.AgainAt(std::chrono::steady_clock::now() + kConnectPause, *this);
  return 0;
}

void HttpConnection::WatchWrites(bool on) {
  // TLS may have to write at any time.
  if (is_unix() && shared_.tls == nullptr)
    poller_.Change(fd_.get(), on ? kReadAndWrite : kRead, *this);
}

void HttpConnection::OnReady(std::uint32_t events) {
  switch (state_) {
    case State::kConnecting:
      return FinishConnecting(events);
    case State::kFailed:
      return events_.OnOpenFailed(id_, ConnectFault(connect_error_));
    case State::kGreeting:
      return Greet(events);
    case State::kOpen:
      if (unwritten_.empty() || write_fault_) return Read(events);
      return WriteRest(events);
  }
}

void HttpConnection::FinishConnecting(std::uint32_t events) {
  int error = 0;
  if (events == 0) {
    // The pause of a Unix socket is over.
    error = Connect();
    if (error == 0) return;
  } else {
    socklen_t size = sizeof(error);
    ::getsockopt(fd_.get(), SOL_SOCKET, SO_ERROR, &error, &size);
  }
  if (error != 0) return events_.OnOpenFailed(id_, ConnectFault(error));
  stream_ = shared_.tls == nullptr ? PlainStream(fd_.get()) : shared_.tls->Stream(fd_.get());
  WatchWrites(false);
  state_ = State::kGreeting;
  Greet(events);
}

void HttpConnection::Greet(std::uint32_t events) {
  const Transfer greeting = stream_->Greet();
  if (greeting.status == Status::kBlocked) return;
  if (greeting.status != Status::kDone) return events_.OnOpenFailed(id_, stream_->fault());
  state_ = State::kOpen;
  LeaveReading(events);
  events_.OnOpened(id_);
}

void HttpConnection::LeaveReading(std::uint32_t events) {
  if (stream_->read_until_blocked() || (events & (kRead | kClosing)) != 0) {
    poller_.Again(*this, events);
  }
}

bool HttpConnection::Send(RequestKind kind) {
  exchange_ = &shared_.exchanges[kind];
  reader_.ExpectAnswer(exchange_->no_body, exchange_->body_text);
  unwritten_ = exchange_->request_text;
  WriteMore();
  if (unwritten_.empty()) return true;
  if (write_fault_) {
    poller_.Again(*this, kClosing);
  } else {
    WatchWrites(true);
  }
  return false;
}

void HttpConnection::WriteMore() {
  while (!unwritten_.empty()) {
    const Transfer written = stream_->Write(unwritten_);
    unwritten_.remove_prefix(written.bytes);
    if (written.status == Status::kFailed) write_fault_ = stream_->fault();
    if (written.status != Status::kDone) return;
  }
}

void HttpConnection::WriteRest(std::uint32_t events) {
  WriteMore();
  if (write_fault_) return Read(events | kClosing);
  if (!unwritten_.empty()) return Read(events);
  WatchWrites(false);
  LeaveReading(events);
  events_.OnWritten(id_);
}

void HttpConnection::Read(std::uint32_t events) {
  const bool until_blocked = stream_->read_until_blocked() || (events & kClosing) != 0;
  if (!until_blocked && (events & kRead) == 0) return;
  for (int i = 0; i < kReadsPerTurn; ++i) {
    const std::size_t room = reader_.room_size();
    const Transfer got = stream_->Read(reader_.room(), room);
    if (got.status == Status::kBlocked && !write_fault_) return;
    // What the service had to say before it closed is worth more than that it closed.
    if (got.status == Status::kBlocked) return Broken(*write_fault_);
    if (got.status == Status::kFailed) return Broken(stream_->fault());
    const bool ended = got.status != Status::kDone;
    const auto step = ended ? reader_.TookEnd(got.status == Status::kCut) : reader_.Took(got.bytes);
    if (step == HttpReader::Step::kBroken) return Broken(reader_.fault());
    const bool more = until_blocked || got.bytes == room;
    if (step == HttpReader::Step::kAnswered) return Answered(events, more && !ended);
    if (!more) return;
  }
  poller_.Again(*this, events);
}

void HttpConnection::Answered(std::uint32_t events, bool more) {
  // An answer before the request was wholly written leaves the connection in the middle of it, and
  // one with the end behind it is the last.
  const bool reusable =
      reader_.reusable() && !exchange_->close && unwritten_.empty() && (events & kClosing) == 0;
  if (more) poller_.Again(*this, events);
  events_.OnAnswered(
      id_, {.status = reader_.status(), .reusable = reusable, .fault = reader_.body_fault()});
}

// By value: the owner may still look at the fault when the connection is gone.
void HttpConnection::Broken(Fault fault) {
  events_.OnBroken(id_, fault, reader_.expects_answer() && reader_.answer_begun());
}

}  // namespace throttletest::internal
