#include "server/service/constraint.h"

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "engine/grammar/grammar_compiler.h"
#include "engine/tensor/status_macros.h"
#include "server/service/request_fields.h"

namespace attend {
namespace {

struct Field {
  const char* name;
  Grammar grammar;
};

absl::StatusOr<Grammar> ReadChoices(const v1::Choices& choices) {
  if (choices.texts().empty()) {
    return absl::InvalidArgumentError(
        "params.constraint.choices has 0 texts, must have 1");
  }
  for (int i = 0; i < choices.texts_size(); ++i) {
    if (!choices.texts(i).empty()) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("params.constraint.choices.texts[", i, "] is empty"));
  }
  return OneOf({choices.texts().begin(), choices.texts().end()});
}

absl::StatusOr<Field> ReadField(const v1::Constraint& from) {
  switch (from.constraint_case()) {
    case v1::Constraint::kJsonSchema:
      return Field{"json_schema",
                   {GrammarKind::kJsonSchema, from.json_schema()}};
    case v1::Constraint::kRegex:
      return Field{"regex", {GrammarKind::kRegex, from.regex()}};
    case v1::Constraint::kLark:
      return Field{"lark", {GrammarKind::kLark, from.lark()}};
    case v1::Constraint::kChoices: {
      ASSIGN_OR_RETURN(Grammar grammar, ReadChoices(from.choices()));
      return Field{"choices", std::move(grammar)};
    }
    case v1::Constraint::kJsonObject:
      return Field{"json_object",
                   {GrammarKind::kJsonSchema, R"({"type": "object"})"}};
    case v1::Constraint::CONSTRAINT_NOT_SET:
      break;
  }
  return absl::InvalidArgumentError(
      "params.constraint is set, but has no constraint");
}

}  // namespace

absl::StatusOr<std::shared_ptr<const Constraint>> ReadConstraint(
    const v1::GenerationParams& params, const ServedModel& model,
    const CallContext& call) {
  if (!params.has_constraint()) return nullptr;
  if (model.grammars == nullptr) {
    return absl::InvalidArgumentError(
        absl::StrCat("params.constraint is set, but model '", model.info().name,
                     "' takes none"));
  }
  ASSIGN_OR_RETURN(const Field field, ReadField(params.constraint()));
  auto compiled = model.grammars->Compile(
      field.grammar, [&] { return !call.CheckAwaited().ok(); });
  if (compiled.ok()) return compiled;
  return Annotate(compiled.status(),
                  absl::StrCat("params.constraint.", field.name));
}

}  // namespace attend
