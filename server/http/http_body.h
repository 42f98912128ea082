#ifndef ATTEND_SERVER_HTTP_HTTP_BODY_H_
#define ATTEND_SERVER_HTTP_HTTP_BODY_H_

#include <string>

#include "server/budget/request_budget.h"

namespace attend {

// The whole body of a request.
struct HttpBody {
  std::string text;
  RequestBytes budgeted;  // those of `text`
};

}  // namespace attend

#endif  // ATTEND_SERVER_HTTP_HTTP_BODY_H_
