#ifndef ATTEND_SERVER_HTTP_HTTP_SESSION_H_
#define ATTEND_SERVER_HTTP_HTTP_SESSION_H_

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
#include "server/http/answer_state.h"
#include "server/http/arriving_body.h"
#include "server/http/connections.h"
#include "server/http/http_environment.h"
#include "server/http/http_exchange.h"
#include "server/http/http_stage.h"
#include "server/http/http_stream.h"
#include "server/http/outgoing.h"
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
  using Stage = HttpStage;
  using ErrorCode = boost::system::error_code;
  using Parser =
      boost::beast::http::request_parser<boost::beast::http::string_body>;

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
  void StartHead();
  void Read();
  void OnRead(ErrorCode error, size_t bytes);
  void Parse();
  void OnBadRequest(ErrorCode error);
  void OnHead();
  HeadRefusal CheckHead(const HttpRequest& request) const;
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
  // The client sends no more. It has gone, or it has only ended its side of the
  // connection and reads the answer. Sending a byte of the answer tells: the
  // system of a client that has gone resets the connection.
  void AskWhetherClientReads();
  // Sends bytes that the handler knows nothing of, while nothing else is sent.
  void SendAside(std::string bytes);
  // Sends a part of the answer.
  void Send(Outgoing part);
  void StartSending(Outgoing bytes);
  void SendSome();
  void OnSent();
  void WaitForPart();
  void FinishAnswer();
  // The exchange is over; a listener hears `end`, if it has not heard before.
  void EndExchange(HttpEnd end);

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
  std::optional<ArrivingBody> body_;
  AnswerState answer_;
  Outgoing out_;                  // what is being sent
  std::optional<Outgoing> next_;  // of the answer, after what is sent aside
};

void StartSession(boost::asio::ip::tcp::socket socket,
                  HttpEnvironment& environment);

}  // namespace attend

#endif  // ATTEND_SERVER_HTTP_HTTP_SESSION_H_
