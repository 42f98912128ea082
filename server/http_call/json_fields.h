#ifndef ATTEND_SERVER_HTTP_CALL_JSON_FIELDS_H_
#define ATTEND_SERVER_HTTP_CALL_JSON_FIELDS_H_

#include <string>

#include "absl/status/status.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "engine/tensor/status_macros.h"
#include "server/http_call/http_status.h"
#include "server/http_call/json_value.h"

namespace attend {

// A field that an object in a request may have, and what becomes of its value.
// Lists of fields are both the reader of an API and its description.
template <class Target>
struct JsonField {
  absl::string_view name;
  absl::string_view schema;  // of the value: JSON Schema
  absl::string_view help;    // one sentence or two, plain text
  absl::Status (*read)(const JsonValue& value, Target& to);
};

// A field for OpenAPI and for documents.
struct FieldHelp {
  absl::string_view name, schema, help;
};

template <class Target>
std::vector<FieldHelp> Describe(absl::Span<const JsonField<Target>> fields) {
  std::vector<FieldHelp> described;
  for (const auto& field : fields) {
    described.push_back({field.name, field.schema, field.help});
  }
  return described;
}

// Reads the members of an object that are not null into `to`. INVALID_ARGUMENT
// if there is one that `fields` does not have.
template <class Target>
absl::Status ReadFields(const JsonValue& object,
                        absl::Span<const JsonField<Target>> fields,
                        Target& to) {
  ASSIGN_OR_RETURN(const std::vector<JsonValue> members, object.Members());
  const size_t prefix = object.name().empty() ? 0 : object.name().size() + 1;
  for (const JsonValue& member : members) {
    const absl::string_view name =
        absl::string_view(member.name()).substr(prefix);
    const JsonField<Target>* found = nullptr;
    for (const auto& field : fields) {
      if (field.name == name) found = &field;
    }
    if (found == nullptr) {
      return FieldError(absl::CHexEscape(member.name().substr(0, 100)),
                        "is not a field that this server knows here");
    }
    RETURN_IF_ERROR(found->read(member, to));
  }
  return absl::OkStatus();
}

}  // namespace attend

#endif  // ATTEND_SERVER_HTTP_CALL_JSON_FIELDS_H_
