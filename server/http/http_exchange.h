#ifndef ATTEND_SERVER_HTTP_HTTP_EXCHANGE_H_
#define ATTEND_SERVER_HTTP_HTTP_EXCHANGE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "server/http/http_body.h"
#include "server/http/http_message.h"

namespace attend {

// How an exchange ended.
struct HttpEnd {
  enum How {
    kSent,     // the whole answer has been handed to the system
    kGone,     // the client has gone
    kSlow,     // the client did not read the answer in time
    kRefused,  // the session refused the body with the status `refusal`
    kClosed    // the server closed the connection
  };
  How how = kSent;
  int refusal = 0;
};

// Hears what happens to an exchange while its answer is made. The event loop
// calls all functions, so they must not wait.
class HttpExchangeListener {
 public:
  virtual ~HttpExchangeListener() = default;
  // The whole body has arrived. Once, after HttpExchange::ReadBody().
  virtual void OnBody(HttpBody body) = 0;
  // The system has taken the last part of a stream: the next part may follow.
  virtual void OnWritten() = 0;
  // Nothing more can be sent. Called exactly once, and last.
  virtual void OnEnd(HttpEnd end) = 0;
};

// One request, and the way to its answer. Except Listen(), any thread may call
// the functions while the server lives. They return at once; after the end of
// the exchange they do nothing.
class HttpExchange {
 public:
  virtual ~HttpExchange() = default;

  // Whoever answers later, and wants to know whether the client is still there,
  // listens. Called by the handler itself, before all other functions. Until
  // OnEnd() a client that sends no more counts as gone.
  virtual void Listen(HttpExchangeListener& listener) = 0;
  // Asks for the body. Needs a listener. `tenant`: whose memory it takes; see
  // RequestBudget. If the handler answers without having
  // asked for a body that the request has, the connection ends with the answer.
  virtual void ReadBody(uint64_t tenant) = 0;

  // The whole answer.
  virtual void Reply(HttpResponse response) = 0;
  // Begins an answer of several parts, of which the body of `response` is the
  // first. One part may follow after each OnWritten().
  virtual void BeginStream(HttpResponse response) = 0;
  virtual void Write(std::string part) = 0;
  // The end of a stream, with its last part; the part may be empty.
  virtual void EndStream(std::string part) = 0;
  // Closes the connection; an answer that is under way is cut off.
  virtual void Close() = 0;
};

// Answers at once, or keeps `exchange` and answers later. Called on the event
// loop, so a handler must not wait.
using HttpHandler = std::function<void(const HttpRequest& request,
                                       std::shared_ptr<HttpExchange> exchange)>;

// Writes a refusal in the form of an API: a status, and a message in plain
// words.
using HttpRefusal =
    std::function<HttpResponse(int status, absl::string_view message)>;

}  // namespace attend

#endif  // ATTEND_SERVER_HTTP_HTTP_EXCHANGE_H_
