#include "load/tcp_transport.h"

#include <boost/asio/post.hpp>
#include <boost/asio/write.hpp>
#include <utility>

#include "load/http_reader.h"

namespace throttletest::internal {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;

// Shared with the operations under way, which end after their channel is gone.
class TcpConnection : public std::enable_shared_from_this<TcpConnection> {
 public:
  TcpConnection(asio::io_context& io, const std::vector<HttpExchange>& exchanges, ChannelId id,
                ChannelEvents& events)
      : socket_(io), exchanges_(exchanges), id_(id), events_(&events) {}

  void Connect(const asio::ip::tcp::endpoint& endpoint);
  bool Send(RequestKind kind);
  void Close();

 private:
  error_code Open(const asio::ip::tcp::endpoint& endpoint);
  void OnConnected(const error_code& ec);
  void OpenFailed(const error_code& ec);
  void ReadMore();
  void OnRead(const error_code& ec, std::size_t n);
  void OnWritten(const error_code& ec);
  void Broken(const Fault& fault);

  asio::ip::tcp::socket socket_;
  const std::vector<HttpExchange>& exchanges_;
  const HttpExchange* exchange_ = nullptr;  // of the latest request
  ChannelId id_;
  ChannelEvents* events_;  // null once closed
  HttpReader reader_;
  bool writing_ = false;
};

error_code TcpConnection::Open(const asio::ip::tcp::endpoint& endpoint) {
  error_code ec;
  if (socket_.open(endpoint.protocol(), ec)) return ec;
  if (socket_.non_blocking(true, ec)) return ec;
  // A request of more than one segment must not wait for the acknowledgement of the one before.
  socket_.set_option(asio::ip::tcp::no_delay(true), ec);
  return ec;
}

void TcpConnection::Connect(const asio::ip::tcp::endpoint& endpoint) {
  if (const error_code ec = Open(endpoint)) {
    asio::post(socket_.get_executor(), [self = shared_from_this(), ec] { self->OpenFailed(ec); });
    return;
  }
  socket_.async_connect(endpoint,
                        [self = shared_from_this()](error_code ec) { self->OnConnected(ec); });
}

void TcpConnection::OnConnected(const error_code& ec) {
  if (ec) return OpenFailed(ec);
  if (events_ == nullptr) return;
  // First the owner, who may have a request waiting; its answer cannot be there yet.
  events_->OnOpened(id_);
  if (events_ != nullptr) ReadMore();
}

void TcpConnection::OpenFailed(const error_code& ec) {
  if (events_ != nullptr) events_->OnOpenFailed(id_, ConnectFault(ec.value()));
}

bool TcpConnection::Send(RequestKind kind) {
  exchange_ = &exchanges_[kind];
  reader_.ExpectAnswer(exchange_->no_body);
  error_code ec;
  const auto bytes = asio::buffer(exchange_->request_text);
  std::size_t written = socket_.write_some(bytes, ec);
  if (written == bytes.size()) return true;
  if (ec && ec != asio::error::would_block) {
    asio::post(socket_.get_executor(), [self = shared_from_this(), ec] { self->OnWritten(ec); });
    return false;
  }
  writing_ = true;
  asio::async_write(
      socket_, bytes + written,
      [self = shared_from_this()](error_code done, std::size_t) { self->OnWritten(done); });
  return false;
}

void TcpConnection::OnWritten(const error_code& ec) {
  writing_ = false;
  if (events_ == nullptr) return;
  if (ec) return Broken(BrokenFault(ec.value()));
  if (reader_.expects_answer()) events_->OnWritten(id_);
}

void TcpConnection::ReadMore() {
  socket_.async_read_some(
      asio::buffer(reader_.room(), reader_.room_size()),
      [self = shared_from_this()](error_code ec, std::size_t n) { self->OnRead(ec, n); });
}

void TcpConnection::OnRead(const error_code& ec, std::size_t n) {
  if (events_ == nullptr) return;
  if (ec && ec != asio::error::eof) return Broken(BrokenFault(ec.value()));
  const HttpReader::Step step = ec ? reader_.TookEnd() : reader_.Took(n);
  if (step == HttpReader::Step::kBroken) return Broken(reader_.fault());
  if (step == HttpReader::Step::kAnswered) {
    // An answer before the request was wholly written leaves the connection in the middle of it.
    const bool reusable = reader_.reusable() && !exchange_->close && !writing_;
    events_->OnAnswered(id_, {.status = reader_.status(), .reusable = reusable});
    if (events_ == nullptr) return;
  }
  ReadMore();
}

void TcpConnection::Broken(const Fault& fault) {
  events_->OnBroken(id_, fault, reader_.expects_answer() && reader_.answer_begun());
}

void TcpConnection::Close() {
  events_ = nullptr;
  error_code ignored;
  socket_.close(ignored);
}

class TcpChannel : public Channel {
 public:
  explicit TcpChannel(std::shared_ptr<TcpConnection> connection)
      : connection_(std::move(connection)) {}
  ~TcpChannel() override { connection_->Close(); }
  bool Send(RequestKind kind) override { return connection_->Send(kind); }

 private:
  std::shared_ptr<TcpConnection> connection_;
};

}  // namespace

std::unique_ptr<Channel> TcpTransport::Open(ChannelId id, ChannelEvents& events) {
  auto connection = std::make_shared<TcpConnection>(io_, exchanges_, id, events);
  connection->Connect(endpoint_);
  return std::make_unique<TcpChannel>(std::move(connection));
}

}  // namespace throttletest::internal
