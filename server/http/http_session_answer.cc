// What a connection answers.
#include <algorithm>
#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/beast/core/buffers_prefix.hpp>
#include <utility>

#include "absl/time/clock.h"
#include "server/http/cors.h"
#include "server/http/http_session.h"
#include "server/http/peer.h"

namespace attend {
namespace {

namespace asio = boost::asio;

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
  void ReadBody(uint64_t tenant) override {
    Do([tenant](HttpSession& session) { session.ReadBody(tenant); });
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
  const std::string host = PeerOf(socket_);
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
  budgeted_.reset();
  EndExchange({HttpEnd::kRefused, status});
  answered_ = false;
  Reply(environment_.router.Refuse(Request().path, status, message));
}

bool HttpSession::head_only() const {
  return parser_->get().method() == boost::beast::http::verb::head;
}

std::string HttpSession::HeadOf(const HttpResponse& response,
                                HttpFraming framing) {
  return ResponseHead(response, framing, keep_alive_, more_headers_,
                      absl::Now())
      .substr(std::exchange(begun_bytes_, 0));
}

void HttpSession::Reply(HttpResponse response) {
  if (std::exchange(answered_, true)) return;
  // A body that nobody has asked for.
  if (parser_->is_header_done() && !parser_->is_done()) keep_alive_ = false;
  last_part_ = true;
  std::string head = HeadOf(response, HttpFraming::kLength);
  if (head_only()) return Send({std::move(head), nullptr});
  if (response.body->size() > kSmallBody) {
    return Send({std::move(head), std::move(response.body)});
  }
  head.append(*response.body);
  Send({std::move(head), nullptr});
}

void HttpSession::BeginStream(HttpResponse response) {
  if (std::exchange(answered_, true)) return;
  last_part_ = false;
  const bool chunks = parser_->get().version() >= 11;
  framing_ = chunks ? HttpFraming::kChunks : HttpFraming::kClose;
  if (!chunks) keep_alive_ = false;
  filler_ = std::string(response.filler);
  Send({HeadOf(response, framing_) + PartOf(*response.body), nullptr});
}

std::string HttpSession::PartOf(absl::string_view bytes) const {
  const bool in_chunk = framing_ == HttpFraming::kChunks && !bytes.empty();
  return in_chunk ? Chunk(bytes) : std::string(bytes);
}

void HttpSession::WritePart(std::string part, bool last) {
  last_part_ = last;
  if (framing_ == HttpFraming::kChunks) {
    part = PartOf(part);
    if (last) part.append(kLastChunk.data(), kLastChunk.size());
  }
  Send({std::move(part), nullptr});
}

void HttpSession::AskWhetherClientReads() {
  if (listener_ == nullptr || begun_bytes_ > 0) return;
  socket_.async_wait(asio::socket_base::wait_error,
                     IfOpen([](HttpSession& self, ErrorCode error, size_t) {
                       if (!error && self.stage_ == Stage::kAnswer)
                         self.End({HttpEnd::kGone});
                     }));
  if (sending_ != Sending::kNothing) return;
  if (!answered_) {
    begun_bytes_ = 1;
    SendAside(std::string(kAnswerVersion.substr(0, begun_bytes_)));
  } else if (framing_ == HttpFraming::kChunks) {
    // The length of a chunk may begin with zeros (RFC 9112, 7.1).
    SendAside("0");
  }
}

void HttpSession::SendAside(std::string bytes) {
  StartSending({std::move(bytes), nullptr}, Sending::kAside);
}

void HttpSession::Send(Outgoing part) {
  stage_ = Stage::kAnswer;
  if (sending_ == Sending::kAside) {
    next_ = std::move(part);
  } else {
    StartSending(std::move(part), Sending::kAnswer);
  }
}

void HttpSession::StartSending(Outgoing bytes, Sending kind) {
  sending_ = kind;
  out_ = std::move(bytes);
  sent_ = 0;
  SendSome();
}

// Sends at most kPaceBytes, which the client has to take in time.
void HttpSession::SendSome() {
  const asio::const_buffer front = asio::buffer(out_.front) + sent_;
  const asio::const_buffer back =
      (out_.back == nullptr ? asio::const_buffer() : asio::buffer(*out_.back)) +
      (sent_ - std::min(sent_, out_.front.size()));
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
  Outgoing sent;  // an assignment would keep the memory
  std::swap(sent, out_);
  const bool aside =
      std::exchange(sending_, Sending::kNothing) == Sending::kAside;
  if (next_.has_value()) {
    auto next = std::exchange(next_, std::nullopt);
    return StartSending(*std::move(next), Sending::kAnswer);
  }
  if (!aside && last_part_) return FinishAnswer();
  WaitForPart();
  if (!aside && listener_ != nullptr) listener_->OnWritten();
}

void HttpSession::WaitForPart() {
  const absl::Duration limit = environment_.options.stream_keepalive;
  if (filler_.empty() || limit == absl::ZeroDuration()) return SetNoDeadline();
  SetDeadline(limit);  // OnDeadline() sends the filler
}

void HttpSession::FinishAnswer() {
  filler_.clear();
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
