#ifndef ATTEND_SERVER_HTTP_REQUEST_HEAD_H_
#define ATTEND_SERVER_HTTP_REQUEST_HEAD_H_

#include <string>

#include "server/http/http_message.h"

namespace attend {

// Why a request is refused by its head alone.
struct HeadRefusal {
  int status = 0;  // 0: it is not refused
  std::string reason = {};
};

// Checks a head that the parser has taken by the rules of RFC 9110 and RFC 9112
// for every request, whatever its path: the headers that say where the body
// ends, Host, the method, the target, and Expect. Two servers that read the end
// of a request differently may be made to see different requests, so what is
// ambiguous is refused.
HeadRefusal CheckRequestHead(const HttpRequest& request);

// True if the client waits for "100 Continue" before it sends the body (RFC
// 9110, 10.1.1).
bool ExpectsContinue(const HttpRequest& request);

// True if the connection may serve another request after this one (RFC 9112,
// 9.3).
bool KeepsConnection(const HttpRequest& request);

}  // namespace attend

#endif  // ATTEND_SERVER_HTTP_REQUEST_HEAD_H_
