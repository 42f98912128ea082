// The life of a connection.
#include "server/http/http_session.h"

#include <boost/asio/post.hpp>
#include <chrono>
#include <utility>

#include "server/tls/certificate_names.h"
#include "server/tls/certificates.h"

namespace attend {
namespace {

namespace asio = boost::asio;

// The time in which the client may read the last answer and close the
// connection. Bytes that still arrive meanwhile are thrown away. If the server
// closed at once, unread bytes would make the kernel reset the connection, and
// the client would lose the answer.
constexpr absl::Duration kFarewellTime = absl::Seconds(1);
constexpr size_t kFarewellBytes = 512;

}  // namespace

HttpSession::HttpSession(asio::ip::tcp::socket socket,
                         HttpEnvironment& environment)
    : environment_(environment),
      stream_(std::move(socket)),
      socket_(stream_.socket()),
      timer_(stream_.get_executor()) {}

void HttpSession::Start() {
  if (environment_.certificates == nullptr) {
    return WaitForRequest(environment_.options.head_timeout);
  }
  stage_ = Stage::kHandshake;
  SetDeadline(environment_.options.head_timeout);
  stream_.StartTls(
      *environment_.certificates->current()->context,
      IfOpen([](HttpSession& self, ErrorCode error, size_t) {
        if (error) return self.Close();
        if (const X509* certificate = self.stream_.certificate()) {
          self.certificate_names_ = CertificateNames(*certificate);
        }
        self.WaitForRequest(self.environment_.options.head_timeout);
      }));
}

void HttpSession::End(HttpEnd end) {
  if (!socket_.is_open()) return;
  ErrorCode ignored;
  // Bytes that the client has not read must not stay in the kernel.
  if (stage_ == Stage::kAnswer) {
    socket_.set_option(asio::socket_base::linger(true, 0), ignored);
  }
  socket_.close(ignored);
  timer_.cancel();
  body_.reset();
  EndExchange(end);
  environment_.connections.Remove(*this);
}

void HttpSession::SetDeadline(absl::Duration limit) {
  timer_.expires_after(absl::ToChronoNanoseconds(limit));
  timer_.async_wait(IfOpen([](HttpSession& self, ErrorCode error, size_t) {
    // The deadline may have moved while the completion was under way.
    const bool passed =
        self.timer_.expiry() <= std::chrono::steady_clock::now();
    if (!error && passed) self.OnDeadline();
  }));
}

void HttpSession::SetNoDeadline() {
  timer_.expires_at(std::chrono::steady_clock::time_point::max());
}

void HttpSession::OnDeadline() {
  if (stage_ == Stage::kAnswer) {
    if (out_.kind != Outgoing::Kind::kNothing) return End({HttpEnd::kSlow});
    return SendAside(answer_.PartOf(answer_.filler));
  }
  if (stage_ != Stage::kHead && stage_ != Stage::kBody) return Close();
  if (!reading_) return Close();
  late_ = true;
  ErrorCode ignored;
  socket_.cancel(ignored);  // OnRead() goes on
}

std::function<void()> HttpSession::CutOfBody() {
  return [session = weak_from_this(), executor = stream_.get_executor(),
          serial = answer_.serial] {
    asio::post(executor, [session, serial] {
      const auto self = session.lock();
      if (self == nullptr || self->answer_.serial != serial) return;
      self->OrClose([&] { self->OnCut(); });
    });
  };
}

void HttpSession::OnCut() {
  if (!socket_.is_open() || stage_ != Stage::kBody) return;
  cut_ = true;
  ErrorCode ignored;
  // OnRead() goes on, or ParseBody() if nothing is read now.
  if (reading_) socket_.cancel(ignored);
}

void HttpSession::SayFarewell() {
  stage_ = Stage::kFarewell;
  environment_.connections.Progress(*this);
  SetDeadline(kFarewellTime);
  if (!stream_.has_tls()) return EndSending();
  // An error means that the client sent something other than the end of TLS.
  stream_.EndTls(
      IfOpen([](HttpSession& self, ErrorCode, size_t) { self.EndSending(); }));
}

void HttpSession::EndSending() {
  ErrorCode error;
  socket_.shutdown(asio::socket_base::shutdown_send, error);
  if (error) return Close();
  ReadToTheEnd();
}

void HttpSession::ReadToTheEnd() {
  buffer_.clear();
  socket_.async_read_some(
      buffer_.prepare(kFarewellBytes),
      IfOpen([](HttpSession& self, ErrorCode error, size_t) {
        if (error) return self.Close();
        self.ReadToTheEnd();
      }));
}

void StartSession(asio::ip::tcp::socket socket, HttpEnvironment& environment) {
  const auto session =
      std::make_shared<HttpSession>(std::move(socket), environment);
  environment.connections.Add(session);
  session->OrClose([&] { session->Start(); });
}

}  // namespace attend
