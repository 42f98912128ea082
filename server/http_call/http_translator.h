#ifndef ATTEND_SERVER_HTTP_CALL_HTTP_TRANSLATOR_H_
#define ATTEND_SERVER_HTTP_CALL_HTTP_TRANSLATOR_H_

#include <google/protobuf/message.h>

#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "server/http/http_body.h"
#include "server/http/http_message.h"
#include "server/service/service.h"

namespace attend {

// The request of a call over HTTP. Valid during HttpTranslator::Read().
struct HttpCallInput {
  HttpBody body;
  std::string content_type;  // JSON's, if the client sent none
  std::string path_rest;     // for a route that ends in '*'; not decoded
  std::string query;         // not decoded
};

// An answer in JSON may have this many bytes as a message. Writing JSON takes
// long, and other calls wait meanwhile.
inline constexpr size_t kMaxJsonAnswerBytes = 8 << 20;

// A request of attend.v1, and who handles it.
struct HandledRequest {
  MakeHandler* make = nullptr;
  std::unique_ptr<google::protobuf::Message> message;
  // The answers are sent as they come; otherwise there is one, and it is sent
  // at the end.
  bool streams = false;
};

// A name of a field in errors of attend.v1, and what the client calls it.
using FieldNames =
    absl::Span<const std::pair<absl::string_view, absl::string_view>>;

// Translates one call between an API over HTTP and attend.v1: the request as a
// whole, then answer by answer. Each route of an API has a derived class.
class HttpTranslator {
 public:
  virtual ~HttpTranslator() = default;

  // Reads the head of the request; called once and first, on the event loop.
  // Returns the client's timeout of the call; infinite: none. An error ends the
  // call. By default: the header X-Request-Timeout; a
  // body that is compressed is an error.
  virtual absl::StatusOr<absl::Duration> ReadHead(const HttpRequest& head);
  // Reads the request; once, on a tokenizer thread. An error ends the call.
  virtual absl::StatusOr<HandledRequest> Read(const HttpCallInput& input,
                                              const Service& service,
                                              CallContext& context) = 0;
  // The names of fields that a client sees in errors of attend.v1. Names that
  // begin with another one stand before it.
  virtual FieldNames field_names() const { return {}; }
  // An error of attend.v1, with the names that the client knows.
  virtual absl::Status Rename(const absl::Status& status) const;

  // The functions below are called on the call's thread, or on a tokenizer
  // thread at the end of the start.

  // The most bytes of an answer of attend.v1 that is translated; what has more
  // is an error.
  virtual size_t max_answer_bytes() const { return kMaxJsonAnswerBytes; }
  // Appends what the client gets of an answer: the body, or events of a stream.
  // An error ends the call.
  virtual absl::Status Append(const google::protobuf::Message& answer,
                              std::string& text) = 0;
  // Appends what follows the last answer of a stream.
  virtual void AppendEnd(std::string& /*text*/) {}
  // True: an error, too, is sent in an answer with status 200, by
  // AppendError(). False: an error has an answer of its own, if no answer has
  // begun.
  virtual bool errors_in_answer() const { return false; }
  // Appends what ends an answer that has begun. `body`: the error in the form
  // of the API. By default an event of a stream.
  virtual void AppendError(const absl::Status& status, absl::string_view body,
                           std::string& text);
  // Bytes that mean nothing to a client that reads a stream; empty: the
  // protocol has none. See HttpResponse::filler.
  virtual absl::string_view filler() const { return {}; }
  // The type of an answer that is not an error.
  virtual absl::string_view answer_type() const { return "application/json"; }
};

// `status`, with the names that the client knows in its message. The first name
// becomes the payload kFieldUrl, unless there is one.
absl::Status RenameFields(const absl::Status& status, FieldNames names);

}  // namespace attend

#endif  // ATTEND_SERVER_HTTP_CALL_HTTP_TRANSLATOR_H_
