#ifndef ATTEND_SERVER_HTTP_HTTP_SESSION_H_
#define ATTEND_SERVER_HTTP_HTTP_SESSION_H_

#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "engine/tensor/out_of_memory.h"
#include "server/budget/request_budget.h"
#include "server/http/connections.h"
#include "server/http/http_body.h"
#include "server/http/http_environment.h"
#include "server/http/http_exchange.h"
#include "server/http/http_stream.h"
#include "server/http/request_head.h"

namespace attend {

// Serves a connection: one request after the other, until the client closes the
// connection, is late or breaks the protocol. `environment.connections` owns
// the session. Runs on the socket's event loop only.
//
// The life of a connection is in http_session.cc, what it reads in
// http_session_read.cc, what it answers in http_session_answer.cc.
class HttpSession final : public Connection,
                          public std::enable_shared_from_this<HttpSession> {
 public:
  HttpSession(boost::asio::ip::tcp::socket socket,
              HttpEnvironment& environment);

  void Start();
  // Without memory for it, the connection is at its end.
  template <typename Work>
  void OrClose(Work work) {
    const auto status =
        CatchOutOfMemory([&] { return work(), absl::OkStatus(); });
    if (!status.ok()) Close();
  }
  void Close() override { End({HttpEnd::kClosed}); }

 private:
  class Exchange;
  using ErrorCode = boost::system::error_code;
  using Parser =
      boost::beast::http::request_parser<boost::beast::http::string_body>;

  struct Outgoing {
    std::string front;
    std::shared_ptr<const std::string> back;  // null: none
  };

  enum class Sending { kNothing, kAnswer, kAside };

  // What the connection waits for.
  enum class Stage {
    kHandshake,  // that of TLS
    kIdle,       // the first byte of a request
    kHead,       // the rest of its head
    kBody,       // the rest of its body
    kAnswer,     // the handler, and the client to read its answer
    kFarewell,   // the client to close
  };

  // Closes the connection; a listener hears `end`.
  void End(HttpEnd end);
  void SetDeadline(absl::Duration limit);
  void SetNoDeadline();
  void OnDeadline();
  void SayFarewell();
  void EndSending();
  void ReadToTheEnd();

  void WaitForRequest(absl::Duration limit);
  void ResetParser();
  // False: no byte of a request is there.
  bool SkipEmptyLines();
  absl::string_view Buffered() const;
  void StartHead();
  void Read();
  void OnRead(ErrorCode error, size_t bytes);
  void Parse();
  void OnBadRequest(ErrorCode error);
  void OnHead();
  HeadRefusal CheckHead(const HttpRequest& request) const;
  // Refuses what a page of a browser may not send.
  HeadRefusal CheckSender(const HttpRequest& request) const;
  bool ChecksHost() const;
  // What is known of the request. Valid while parser_ does not change.
  HttpRequest Request() const;
  void Handle();
  // `tenant`: of the call; see RequestBudget.
  void ReadBody(uint64_t tenant);
  void ParseBody();
  // Any thread may call it while the body arrives, if what came of it has to
  // make room for others.
  std::function<void()> CutOfBody();
  void OnCut();
  void OnBody();
  // Sends the last answer: the bytes that follow on the connection cannot be
  // understood, or are not wanted.
  void Refuse(int status, absl::string_view message);

  void Reply(HttpResponse response);
  void BeginStream(HttpResponse response);
  void WritePart(std::string part, bool last);
  // A part of a stream as it is sent.
  std::string PartOf(absl::string_view bytes) const;
  // The head of an answer, without the bytes of it that have been sent.
  std::string HeadOf(const HttpResponse& response, HttpFraming framing);
  // The client sends no more. It has gone, or it has only ended its side of the
  // connection and reads the answer. Sending a byte of the answer tells: the
  // system of a client that has gone resets the connection.
  void AskWhetherClientReads();
  // Sends bytes that the handler knows nothing of, while nothing else is sent.
  void SendAside(std::string bytes);
  // Sends a part of the answer.
  void Send(Outgoing part);
  void StartSending(Outgoing bytes, Sending kind);
  void SendSome();
  void OnSent();
  void WaitForPart();
  void FinishAnswer();
  // The exchange is over; a listener hears `end`, if it has not heard before.
  void EndExchange(HttpEnd end);
  bool head_only() const;

  // Makes a completion handler that keeps the session alive, and does nothing
  // after the session was closed.
  template <typename Then>
  auto IfOpen(Then then) {
    return
        [self = shared_from_this(), then](ErrorCode error, size_t bytes = 0) {
          if (!self->socket_.is_open()) return;
          self->OrClose([&] { then(*self, error, bytes); });
        };
  }

  HttpEnvironment& environment_;
  HttpStream stream_;
  boost::asio::ip::tcp::socket& socket_;  // the stream's
  boost::asio::steady_timer timer_;
  Stage stage_ = Stage::kIdle;

  // Of the client's certificate.
  std::optional<std::vector<std::string>> certificate_names_;
  bool reading_ = false;  // into received_
  bool late_ = false;     // the request
  bool cut_ = false;      // its body
  std::string received_;
  boost::beast::flat_buffer buffer_{kMaxHttpHeadBytes};
  std::optional<Parser> parser_;
  size_t paced_ = 0;  // bytes of the body when its deadline was set
  // Of the body, of which so many bytes are counted.
  std::optional<RequestBudget::Entry> budgeted_;
  size_t counted_ = 0;

  // Of the request that is being answered.
  uint64_t serial_ = 0;
  HttpExchangeListener* listener_ = nullptr;  // null: none, or it heard the end
  HttpHeaders more_headers_;
  HttpFraming framing_ = HttpFraming::kLength;
  std::string filler_;         // of a stream; see HttpResponse
  bool answered_ = false;      // the handler has begun an answer
  bool last_part_ = false;     // what is being sent is the end of the answer
  bool keep_alive_ = false;    // the connection goes on after the answer
  bool client_waits_ = false;  // for "100 Continue"
  size_t begun_bytes_ = 0;     // of the answer's head that were sent in advance
  Sending sending_ = Sending::kNothing;
  Outgoing out_;                  // what is being sent
  std::optional<Outgoing> next_;  // of the answer, after what is sent aside
  size_t sent_ = 0;               // of out_
};

void StartSession(boost::asio::ip::tcp::socket socket,
                  HttpEnvironment& environment);

}  // namespace attend

#endif  // ATTEND_SERVER_HTTP_HTTP_SESSION_H_
