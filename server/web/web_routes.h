#ifndef ATTEND_SERVER_WEB_WEB_ROUTES_H_
#define ATTEND_SERVER_WEB_WEB_ROUTES_H_

#include "server/http/http_router.h"

namespace attend {

// The page: "/", and its parts at "/page/". It calls attend.v1 and reads
// /metrics like every client, so it shows nothing that a client cannot see.
void AddPageRoutes(HttpRouter& router);

// The definitions of the API, by the names that they have for compilers:
// "/attend/v1/attend.proto".
void AddProtoRoutes(HttpRouter& router);

}  // namespace attend

#endif  // ATTEND_SERVER_WEB_WEB_ROUTES_H_
