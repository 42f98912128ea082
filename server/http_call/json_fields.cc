#include "server/http_call/json_fields.h"

#include "absl/strings/escaping.h"
#include "server/http_call/http_status.h"

namespace attend {

absl::Status UnknownField(const JsonValue& member) {
  return FieldError(absl::CHexEscape(member.name().substr(0, 100)),
                    "is not a field that this server knows here");
}

}  // namespace attend
