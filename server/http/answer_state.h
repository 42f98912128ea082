#ifndef ATTEND_SERVER_HTTP_ANSWER_STATE_H_
#define ATTEND_SERVER_HTTP_ANSWER_STATE_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "server/http/http_exchange.h"
#include "server/http/http_message.h"

namespace attend {

// State of the request that a connection answers.
struct AnswerState {
  // The head of an answer, without the bytes of it that have been sent.
  std::string TakeHead(const HttpResponse& response, HttpFraming of_body);
  // A part of a stream as it is sent.
  std::string PartOf(absl::string_view bytes) const;

  uint64_t serial = 0;
  HttpExchangeListener* listener = nullptr;  // null: none, or it heard the end
  HttpHeaders more_headers = {};
  HttpFraming framing = HttpFraming::kLength;
  std::string filler = {};    // of a stream; see HttpResponse
  bool begun = false;         // by the handler
  bool last_part = false;     // what is being sent is the end of the answer
  bool keep_alive = false;    // the connection goes on after the answer
  bool client_waits = false;  // for "100 Continue"
  size_t sent_ahead = 0;      // bytes of the head
};

}  // namespace attend

#endif  // ATTEND_SERVER_HTTP_ANSWER_STATE_H_
