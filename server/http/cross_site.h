#ifndef ATTEND_SERVER_HTTP_CROSS_SITE_H_
#define ATTEND_SERVER_HTTP_CROSS_SITE_H_

#include <string>
#include <vector>

#include "server/http/http_message.h"

namespace attend {

// True if `request` may come from a page of another site that has not asked
// whether it may send it (cross-site request forgery). Browsers send such
// requests unasked if the body is a form or plain text, or has no type (Fetch,
// "CORS-safelisted request-header"), and name the page's site in Origin. A type
// of JSON, or a header Authorization, takes permission, which CORS gives.
// `cors_origins`: the sites that have it; see HttpOptions.
bool IsForgeable(const HttpRequest& request,
                 const std::vector<std::string>& cors_origins);

}  // namespace attend

#endif  // ATTEND_SERVER_HTTP_CROSS_SITE_H_
