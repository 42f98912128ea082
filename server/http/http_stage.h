#ifndef ATTEND_SERVER_HTTP_HTTP_STAGE_H_
#define ATTEND_SERVER_HTTP_HTTP_STAGE_H_

namespace attend {

// Stage of a connection: the next thing that happens to it.
enum class HttpStage {
  kHandshake,  // that of TLS
  kIdle,       // the first byte of a request
  kHead,       // the rest of its head
  kBody,       // the rest of its body
  kAnswer,     // the handler, and the client to read its answer
  kFarewell,   // the client to close
};

}  // namespace attend

#endif  // ATTEND_SERVER_HTTP_HTTP_STAGE_H_
