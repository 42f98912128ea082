#ifndef ATTEND_SERVER_LIBRETRANSLATE_FORM_BODY_H_
#define ATTEND_SERVER_LIBRETRANSLATE_FORM_BODY_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/http_call/json_value.h"

namespace attend {

// The parameters of a POST: those of its body, which is a JSON object or a form
// ("q=a&source=en"), and those of the query of its URL, which has the syntax of
// a form. The fields of a form become strings. The body may be empty if there
// is a query. INVALID_ARGUMENT if the body is neither JSON nor a form, if
// something is not UTF-8, or if a field is there twice with different values.
absl::StatusOr<Json> ParseParameters(absl::string_view query,
                                     absl::string_view body,
                                     absl::string_view content_type);

}  // namespace attend

#endif  // ATTEND_SERVER_LIBRETRANSLATE_FORM_BODY_H_
