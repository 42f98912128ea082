#ifndef ATTEND_SERVER_LIBRETRANSLATE_FORM_BODY_H_
#define ATTEND_SERVER_LIBRETRANSLATE_FORM_BODY_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/http_call/json_value.h"

namespace attend {

// The body of a request, which is a JSON object or a form ("q=a&source=en").
// The fields of a form become strings. INVALID_ARGUMENT if the body is neither,
// is not UTF-8, or has a field twice.
absl::StatusOr<Json> ParseFormOrJson(absl::string_view body,
                                     absl::string_view content_type);

}  // namespace attend

#endif  // ATTEND_SERVER_LIBRETRANSLATE_FORM_BODY_H_
