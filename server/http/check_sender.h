#ifndef ATTEND_SERVER_HTTP_CHECK_SENDER_H_
#define ATTEND_SERVER_HTTP_CHECK_SENDER_H_

#include "server/http/http_environment.h"
#include "server/http/http_message.h"
#include "server/http/request_head.h"

namespace attend {

// Refuses what a page of a browser may not send. `checks_host`: whether the
// host of the request has to be one of `environment.hosts`.
HeadRefusal CheckSender(const HttpRequest& request,
                        const HttpEnvironment& environment, bool checks_host);

}  // namespace attend

#endif  // ATTEND_SERVER_HTTP_CHECK_SENDER_H_
