// What a connection answers.
#include <algorithm>
#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/beast/core/buffers_prefix.hpp>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/http/cors.h"
#include "server/http/http_session.h"

namespace attend {
namespace {

namespace asio = boost::asio;

// As gRPC writes it.
std::string HostOf(const asio::ip::tcp::socket& socket) {
  boost::system::error_code error;
  const auto address = socket.remote_endpoint(error).address();
  return address.is_v4() ? absl::StrCat("ipv4:", address.to_string())
                         : absl::StrCat("ipv6:[", address.to_string(), "]");
}

// Smaller bodies are copied behind their head: one packet for both.
constexpr size_t kSmallBody = 8 << 10;

}  // namespace

// The exchange of one request. Its session may have gone, or serve a later
// request.
class HttpSession::Exchange final : public HttpExchange {
 public:
  Exchange(HttpSession& session, uint64_t serial)
      : executor_(session.stream_.get_executor()),
        session_(session.weak_from_this()),
        serial_(serial) {}

  void Listen(HttpExchangeListener& listener) override {
    session_.lock()->listener_ = &listener;
  }
  void ReadBody() override {
    Do([](HttpSession& session) { session.ReadBody(); });
  }
  void Reply(HttpResponse response) override {
    Do([response = std::move(response)](HttpSession& session) mutable {
      session.Reply(std::move(response));
    });
  }
  void BeginStream(HttpResponse response) override {
    Do([response = std::move(response)](HttpSession& session) mutable {
      session.BeginStream(std::move(response));
    });
  }
  void Write(std::string part) override {
    Do([part = std::move(part)](HttpSession& session) mutable {
      session.WritePart(std::move(part), /*last=*/false);
    });
  }
  void EndStream(std::string part) override {
    Do([part = std::move(part)](HttpSession& session) mutable {
      session.WritePart(std::move(part), /*last=*/true);
    });
  }
  void Close() override {
    Do([](HttpSession& session) { session.Close(); });
  }

 private:
  template <class Work>
  void Do(Work work) {
    asio::dispatch(executor_, [session = session_, serial = serial_,
                               work = std::move(work)]() mutable {
      const auto self = session.lock();
      if (self == nullptr || !self->socket_.is_open()) return;
      if (self->serial_ != serial) return;
      self->OrClose([&] { work(*self); });
    });
  }

  const HttpStream::executor_type executor_;
  const std::weak_ptr<HttpSession> session_;
  const uint64_t serial_;
};

void HttpSession::Handle() {
  const std::string host = HostOf(socket_);
  HttpRequest request = Request();
  request.host = host;
  const auto exchange = std::make_shared<Exchange>(*this, serial_);
  const std::string methods = environment_.router.Methods(request.path);
  if (!environment_.options.cors_origins.empty() && !methods.empty() &&
      IsPreflight(request)) {
    return Reply(PreflightAnswer(methods));
  }
  environment_.router.Handle(std::move(request), exchange);
}

// A request that was refused in the middle of its body, or a client that sends
// more than it may, is told so even if its handler has not answered.
void HttpSession::Refuse(int status, absl::string_view message) {
  keep_alive_ = false;
  EndExchange({HttpEnd::kRefused, status});
  answered_ = false;
  Reply(environment_.router.Refuse(Request().path, status, message));
}

bool HttpSession::head_only() const {
  return parser_->get().method() == boost::beast::http::verb::head;
}

void HttpSession::Reply(HttpResponse response) {
  if (std::exchange(answered_, true)) return;
  // A body that nobody has asked for.
  if (parser_->is_header_done() && !parser_->is_done()) keep_alive_ = false;
  last_part_ = true;
  std::string head =
      ResponseHead(response, HttpFraming::kLength, keep_alive_, more_headers_);
  if (head_only()) return Send(std::move(head), nullptr);
  if (response.body->size() > kSmallBody) {
    return Send(std::move(head), std::move(response.body));
  }
  head.append(*response.body);
  Send(std::move(head), nullptr);
}

void HttpSession::BeginStream(HttpResponse response) {
  if (std::exchange(answered_, true)) return;
  last_part_ = false;
  const bool chunks = parser_->get().version() >= 11;
  framing_ = chunks ? HttpFraming::kChunks : HttpFraming::kClose;
  if (!chunks) keep_alive_ = false;
  std::string front =
      ResponseHead(response, framing_, keep_alive_, more_headers_);
  if (!response.body->empty()) {
    front.append(chunks ? Chunk(*response.body) : *response.body);
  }
  Send(std::move(front), nullptr);
}

void HttpSession::WritePart(std::string part, bool last) {
  last_part_ = last;
  if (framing_ == HttpFraming::kChunks) {
    if (!part.empty()) part = Chunk(part);
    if (last) part.append(kLastChunk.data(), kLastChunk.size());
  }
  Send(std::move(part), nullptr);
}

void HttpSession::Send(std::string front,
                       std::shared_ptr<const std::string> back) {
  stage_ = Stage::kAnswer;
  front_ = std::move(front);
  back_ = std::move(back);
  sent_ = 0;
  SendSome();
}

// Sends at most kPaceBytes, which the client has to take in time.
void HttpSession::SendSome() {
  const asio::const_buffer front = asio::buffer(front_) + sent_;
  const asio::const_buffer back =
      (back_ == nullptr ? asio::const_buffer() : asio::buffer(*back_)) +
      (sent_ - std::min(sent_, front_.size()));
  if (front.size() + back.size() == 0) return OnSent();
  SetDeadline(environment_.options.answer_timeout);
  const std::array<asio::const_buffer, 2> rest = {front, back};
  stream_.async_write_some(
      boost::beast::buffers_prefix(kPaceBytes, rest),
      IfOpen([](HttpSession& self, ErrorCode error, size_t bytes) {
        if (error) return self.End({HttpEnd::kGone});
        self.sent_ += bytes;
        self.SendSome();
      }));
}

void HttpSession::OnSent() {
  std::string().swap(front_);  // clear() would keep the memory
  back_.reset();
  if (last_part_) return FinishAnswer();
  SetNoDeadline();
  if (listener_ != nullptr) listener_->OnWritten();
}

void HttpSession::FinishAnswer() {
  EndExchange({HttpEnd::kSent});
  if (!keep_alive_) return SayFarewell();
  environment_.connections.Progress(*this);
  WaitForRequest(environment_.options.idle_timeout);
}

void HttpSession::EndExchange(HttpEnd end) {
  ++serial_;
  HttpExchangeListener* const listener = std::exchange(listener_, nullptr);
  if (listener != nullptr) listener->OnEnd(end);
}

}  // namespace attend
