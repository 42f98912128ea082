#ifndef ATTEND_SERVER_OPENAI_MODEL_FIELD_H_
#define ATTEND_SERVER_OPENAI_MODEL_FIELD_H_

#include "absl/status/status.h"
#include "engine/tensor/status_macros.h"
#include "server/http_call/json_fields.h"
#include "server/openai/neutral_fields.h"

namespace attend {

// The field "model" of a route. `kModel` gives the string of a target that has
// the name.
template <class Target, auto kModel>
constexpr JsonField<Target> ModelField() {
  return {"model", kAnyString,
          "The name of a model; without it the server's default model.",
          [](const JsonValue& value, Target& to) {
            ASSIGN_OR_RETURN(*kModel(to), value.String());
            return absl::OkStatus();
          }};
}

}  // namespace attend

#endif  // ATTEND_SERVER_OPENAI_MODEL_FIELD_H_
