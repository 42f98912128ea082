#include "server/http/http_session.h"

#include <algorithm>
#include <array>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/parser.hpp>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "engine/tensor/out_of_memory.h"
#include "server/http/http_message.h"
#include "server/http/http_stream.h"
#include "server/tls/certificates.h"

namespace attend {
namespace {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using boost::system::error_code;

// Memory of a connection that says nothing.
constexpr size_t kReadBytes = 512;

// The time in which the client may read the last answer and close the
// connection. Bytes that still arrive meanwhile are thrown away. If the server
// closed at once, unread bytes would make the kernel reset the connection, and
// the client would lose the answer.
constexpr absl::Duration kFarewellTime = absl::Seconds(1);

absl::string_view View(boost::beast::string_view text) {
  return absl::string_view(text.data(), text.size());
}

// What the connection waits for.
enum class Stage {
  kHandshake,  // that of TLS
  kIdle,       // the first byte of a request
  kHead,       // the rest of its head
  kAnswer,     // the handler, and the client to read its answer
  kFarewell,   // the client to close
};

class HttpSession final : public Connection,
                          public std::enable_shared_from_this<HttpSession> {
 public:
  HttpSession(asio::ip::tcp::socket socket, HttpEnvironment& environment)
      : environment_(environment),
        stream_(std::move(socket)),
        socket_(stream_.socket()),
        timer_(stream_.get_executor()) {}

  void Start();
  // Without memory for it, the connection is at its end.
  template <typename Work>
  void OrClose(Work work) {
    const auto status =
        CatchOutOfMemory([&] { return work(), absl::OkStatus(); });
    if (!status.ok()) Close();
  }

  void Close() override;

 private:
  void SetDeadline(absl::Duration limit);
  void OnDeadline();

  void WaitForRequest(absl::Duration limit);
  void StartHead();
  void Read();
  void OnRead(error_code error, size_t bytes);
  void Parse();
  void Handle();
  void OnBadHead(error_code error);
  void Refuse(int status, const char* reason);
  void Write(const HttpResponse& response);
  void OnWritten(error_code error);
  void SayFarewell();
  void EndSending();
  void ReadToTheEnd();

  // Makes a completion handler that keeps the session alive, and does nothing
  // after the session was closed.
  template <typename Then>
  auto IfOpen(Then then) {
    return
        [self = shared_from_this(), then](error_code error, size_t bytes = 0) {
          if (!self->socket_.is_open()) return;
          self->OrClose([&] { then(*self, error, bytes); });
        };
  }

  HttpEnvironment& environment_;
  HttpStream stream_;
  asio::ip::tcp::socket& socket_;  // the stream's
  asio::steady_timer timer_;
  Stage stage_ = Stage::kIdle;
  bool late_ = false;  // the head
  boost::beast::flat_buffer buffer_{kMaxHttpHeadBytes};
  std::optional<http::request_parser<http::empty_body>> parser_;

  // Whether the connection goes on after the answer that is being written.
  bool keep_alive_ = false;
  std::string head_;
  std::shared_ptr<const std::string> body_;
};

void HttpSession::Start() {
  if (environment_.certificates == nullptr) {
    return WaitForRequest(environment_.options.head_timeout);
  }
  stage_ = Stage::kHandshake;
  SetDeadline(environment_.options.head_timeout);
  stream_.StartTls(
      *environment_.certificates->current()->context,
      IfOpen([](HttpSession& self, error_code error, size_t) {
        if (error) return self.Close();
        self.WaitForRequest(self.environment_.options.head_timeout);
      }));
}

void HttpSession::Close() {
  if (!socket_.is_open()) return;
  error_code ignored;
  // Bytes that the client has not read must not stay in the kernel.
  if (stage_ == Stage::kAnswer) {
    socket_.set_option(asio::socket_base::linger(true, 0), ignored);
  }
  socket_.close(ignored);
  timer_.cancel();
  environment_.connections.Remove(*this);
}

void HttpSession::SetDeadline(absl::Duration limit) {
  timer_.expires_after(absl::ToChronoNanoseconds(limit));
  timer_.async_wait(IfOpen([](HttpSession& self, error_code error, size_t) {
    // The deadline may have moved while the completion was under way.
    const bool passed =
        self.timer_.expiry() <= std::chrono::steady_clock::now();
    if (!error && passed) self.OnDeadline();
  }));
}

void HttpSession::OnDeadline() {
  if (stage_ != Stage::kHead) return Close();
  late_ = true;
  error_code ignored;
  socket_.cancel(ignored);  // OnRead() goes on
}

void HttpSession::WaitForRequest(absl::Duration limit) {
  parser_.emplace();
  parser_->header_limit(kMaxHttpHeadBytes);
  if (buffer_.size() > 0) return StartHead();
  stage_ = Stage::kIdle;
  SetDeadline(limit);
  Read();
}

void HttpSession::StartHead() {
  stage_ = Stage::kHead;
  SetDeadline(environment_.options.head_timeout);
  Parse();
}

void HttpSession::Read() {
  const size_t room = buffer_.max_size() - buffer_.size();
  if (room == 0) return OnBadHead(http::error::buffer_overflow);
  stream_.async_read_some(
      buffer_.prepare(std::min(room, kReadBytes)),
      IfOpen([](HttpSession& self, error_code error, size_t bytes) {
        self.OnRead(error, bytes);
      }));
}

void HttpSession::OnRead(error_code error, size_t bytes) {
  if (late_) return Refuse(408, "the request took too long to arrive\n");
  if (error) return Close();
  buffer_.commit(bytes);
  if (stage_ == Stage::kIdle) return StartHead();
  Parse();
}

void HttpSession::Parse() {
  error_code error;
  buffer_.consume(parser_->put(buffer_.data(), error));
  if (error == http::error::need_more) return Read();
  if (error) return OnBadHead(error);
  Handle();
}

void HttpSession::OnBadHead(error_code error) {
  if (error == http::error::header_limit ||
      error == http::error::buffer_overflow) {
    return Refuse(431, "the head of the request is too large\n");
  }
  if (error == http::error::body_limit) {
    return Refuse(413, "the request has a body\n");
  }
  Refuse(400, "the request is not HTTP/1.1\n");
}

void HttpSession::Handle() {
  const auto& head = parser_->get();
  if (!parser_->is_done()) return Refuse(413, "the request has a body\n");
  if (head.version() >= 11 && head.count(http::field::host) != 1) {
    return Refuse(400, "the request must have exactly one header Host\n");
  }
  stage_ = Stage::kAnswer;
  timer_.expires_at(std::chrono::steady_clock::time_point::max());
  environment_.connections.Progress(*this);
  keep_alive_ = head.keep_alive();
  const absl::string_view target = View(head.target());
  const bool authorized = head.count(http::field::authorization) == 1;
  environment_.router.Handle(
      {.method = View(head.method_string()),
       .path = target.substr(0, target.find('?')),
       .authorization =
           authorized ? View(head[http::field::authorization]) : ""},
      [executor = stream_.get_executor(),
       session = weak_from_this()](HttpResponse response) {
        asio::dispatch(executor, [session, response = std::move(response)] {
          const auto self = session.lock();
          if (self == nullptr || !self->socket_.is_open()) return;
          self->OrClose([&] { self->Write(response); });
        });
      });
}

// Sends the last answer: the bytes that follow on the connection cannot be
// understood.
void HttpSession::Refuse(int status, const char* reason) {
  keep_alive_ = false;
  Write(TextResponse(status, reason));
}

void HttpSession::Write(const HttpResponse& response) {
  stage_ = Stage::kAnswer;
  SetDeadline(environment_.options.answer_timeout);
  head_ = ResponseHead(response, keep_alive_);
  body_ = response.body;
  const bool head_only = parser_->get().method() == http::verb::head;
  const std::array<asio::const_buffer, 2> answer = {
      asio::buffer(head_),
      head_only ? asio::const_buffer() : asio::buffer(*body_)};
  asio::async_write(stream_, answer,
                    IfOpen([](HttpSession& self, error_code error, size_t) {
                      self.OnWritten(error);
                    }));
}

void HttpSession::OnWritten(error_code error) {
  body_.reset();
  if (error) return Close();
  if (!keep_alive_) return SayFarewell();
  environment_.connections.Progress(*this);
  WaitForRequest(environment_.options.idle_timeout);
}

void HttpSession::SayFarewell() {
  stage_ = Stage::kFarewell;
  SetDeadline(kFarewellTime);
  if (!stream_.has_tls()) return EndSending();
  // An error means that the client sent something other than the end of TLS.
  stream_.EndTls(
      IfOpen([](HttpSession& self, error_code, size_t) { self.EndSending(); }));
}

void HttpSession::EndSending() {
  error_code error;
  socket_.shutdown(asio::socket_base::shutdown_send, error);
  if (error) return Close();
  ReadToTheEnd();
}

void HttpSession::ReadToTheEnd() {
  buffer_.clear();
  socket_.async_read_some(
      buffer_.prepare(kReadBytes),
      IfOpen([](HttpSession& self, error_code error, size_t) {
        if (error) return self.Close();
        self.ReadToTheEnd();
      }));
}

}  // namespace

void StartSession(asio::ip::tcp::socket socket, HttpEnvironment& environment) {
  const auto session =
      std::make_shared<HttpSession>(std::move(socket), environment);
  environment.connections.Add(session);
  session->OrClose([&] { session->Start(); });
}

}  // namespace attend
