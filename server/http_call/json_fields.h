#ifndef ATTEND_SERVER_HTTP_CALL_JSON_FIELDS_H_
#define ATTEND_SERVER_HTTP_CALL_JSON_FIELDS_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "engine/tensor/status_macros.h"
#include "server/http_call/json_value.h"

namespace attend {

// A field that an object in a request may have, and what becomes of its value.
// Lists of fields are both the reader of an API and its description.
template <class Target>
struct JsonField {
  absl::string_view name;
  absl::string_view schema;  // JSON Schema of the value
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

// INVALID_ARGUMENT: the server does not know the field.
absl::Status UnknownField(const JsonValue& member);

// Reads one member of an object. False: `fields` does not have it.
template <class Target>
absl::StatusOr<bool> ReadField(const JsonValue& member,
                               absl::Span<const JsonField<Target>> fields,
                               Target& to) {
  for (const auto& field : fields) {
    if (field.name != member.key()) continue;
    RETURN_IF_ERROR(field.read(member, to));
    return true;
  }
  return false;
}

// Reads the members of an object that are not null into `to`. INVALID_ARGUMENT
// if there is one that `fields` does not have.
template <class Target>
absl::Status ReadFields(const JsonValue& object,
                        absl::Span<const JsonField<Target>> fields,
                        Target& to) {
  ASSIGN_OR_RETURN(const std::vector<JsonValue> members, object.Members());
  for (const JsonValue& member : members) {
    ASSIGN_OR_RETURN(const bool known, ReadField(member, fields, to));
    if (!known) return UnknownField(member);
  }
  return absl::OkStatus();
}

}  // namespace attend

#endif  // ATTEND_SERVER_HTTP_CALL_JSON_FIELDS_H_
