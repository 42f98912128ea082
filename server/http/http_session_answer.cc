// What a connection answers.
#include <boost/asio/dispatch.hpp>
#include <boost/beast/core/buffers_prefix.hpp>
#include <utility>

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
    session_.lock()->answer_.listener = &listener;
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
      if (self->answer_.serial != serial) return;
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
  const auto exchange = std::make_shared<Exchange>(*this, answer_.serial);
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
  answer_.keep_alive = false;
  body_.reset();
  EndExchange({HttpEnd::kRefused, status});
  answer_.begun = false;
  Reply(environment_.router.Refuse(Request().path, status, message));
}

void HttpSession::Reply(HttpResponse response) {
  if (std::exchange(answer_.begun, true)) return;
  // A body that nobody has asked for.
  const bool unread = parser_->is_header_done() && !parser_->is_done();
  if (unread) answer_.keep_alive = false;
  answer_.last_part = true;
  std::string head = answer_.TakeHead(response, HttpFraming::kLength);
  const bool head_only =
      parser_->get().method() == boost::beast::http::verb::head;
  if (head_only) return Send({std::move(head), nullptr});
  if (response.body->size() > kSmallBody) {
    return Send({std::move(head), std::move(response.body)});
  }
  head.append(*response.body);
  Send({std::move(head), nullptr});
}

void HttpSession::BeginStream(HttpResponse response) {
  if (std::exchange(answer_.begun, true)) return;
  answer_.last_part = false;
  const bool chunks = parser_->get().version() >= 11;
  answer_.framing = chunks ? HttpFraming::kChunks : HttpFraming::kClose;
  if (!chunks) answer_.keep_alive = false;
  answer_.filler = std::string(response.filler);
  Send({answer_.TakeHead(response, answer_.framing) +
            answer_.PartOf(*response.body),
        nullptr});
}

void HttpSession::WritePart(std::string part, bool last) {
  answer_.last_part = last;
  if (answer_.framing == HttpFraming::kChunks) {
    part = answer_.PartOf(part);
    if (last) part.append(kLastChunk.data(), kLastChunk.size());
  }
  Send({std::move(part), nullptr});
}

void HttpSession::AskWhetherClientReads() {
  if (answer_.listener == nullptr || answer_.sent_ahead > 0) return;
  socket_.async_wait(asio::socket_base::wait_error,
                     IfOpen([](HttpSession& self, ErrorCode error, size_t) {
                       if (!error && self.stage_ == Stage::kAnswer)
                         self.End({HttpEnd::kGone});
                     }));
  if (out_.kind != Outgoing::Kind::kNothing) return;
  if (!answer_.begun) {
    answer_.sent_ahead = 1;
    SendAside(std::string(kAnswerVersion.substr(0, answer_.sent_ahead)));
  } else if (answer_.framing == HttpFraming::kChunks) {
    // The length of a chunk may begin with zeros (RFC 9112, 7.1).
    SendAside("0");
  }
}

void HttpSession::SendAside(std::string bytes) {
  StartSending({.front = std::move(bytes), .kind = Outgoing::Kind::kAside});
}

void HttpSession::Send(Outgoing part) {
  stage_ = Stage::kAnswer;
  part.kind = Outgoing::Kind::kAnswer;
  if (out_.kind == Outgoing::Kind::kAside) {
    next_ = std::move(part);
  } else {
    StartSending(std::move(part));
  }
}

void HttpSession::StartSending(Outgoing bytes) {
  out_ = std::move(bytes);
  SendSome();
}

// Sends at most kPaceBytes, which the client has to take in time.
void HttpSession::SendSome() {
  if (out_.done()) return OnSent();
  SetDeadline(environment_.options.answer_timeout);
  stream_.async_write_some(
      boost::beast::buffers_prefix(kPaceBytes, out_.Rest()),
      IfOpen([](HttpSession& self, ErrorCode error, size_t bytes) {
        if (error) return self.End({HttpEnd::kGone});
        self.out_.sent += bytes;
        self.SendSome();
      }));
}

void HttpSession::OnSent() {
  Outgoing sent;  // an assignment would keep the memory
  std::swap(sent, out_);
  const bool aside = sent.kind == Outgoing::Kind::kAside;
  if (next_.has_value()) {
    auto next = std::exchange(next_, std::nullopt);
    return StartSending(*std::move(next));
  }
  if (!aside && answer_.last_part) return FinishAnswer();
  WaitForPart();
  if (!aside && answer_.listener != nullptr) answer_.listener->OnWritten();
}

void HttpSession::WaitForPart() {
  const absl::Duration limit = environment_.options.stream_keepalive;
  if (answer_.filler.empty() || limit == absl::ZeroDuration())
    return SetNoDeadline();
  SetDeadline(limit);  // OnDeadline() sends the filler
}

void HttpSession::FinishAnswer() {
  answer_.filler.clear();
  EndExchange({HttpEnd::kSent});
  if (!answer_.keep_alive) return SayFarewell();
  environment_.connections.Progress(*this);
  WaitForRequest(environment_.options.idle_timeout);
}

void HttpSession::EndExchange(HttpEnd end) {
  ++answer_.serial;
  HttpExchangeListener* const listener =
      std::exchange(answer_.listener, nullptr);
  if (listener != nullptr) listener->OnEnd(end);
}

}  // namespace attend
