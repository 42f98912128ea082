#include "server/openai/constraint_fields.h"

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "engine/json/json_parse.h"
#include "engine/tensor/status_macros.h"
#include "server/http_call/http_status.h"
#include "server/openai/neutral_fields.h"

namespace attend {
namespace {

using ConstraintField = JsonField<GenerationRequest>;

// The place of the constraint that `field` asks for.
absl::StatusOr<v1::Constraint*> NewConstraint(absl::string_view field,
                                              GenerationRequest& to) {
  if (!to.constraint_field.empty()) {
    return FieldError(field,
                      absl::StrCat("is given, and so is ", to.constraint_field,
                                   ": one must be absent"));
  }
  to.constraint_field = std::string(field);
  return to.params().mutable_constraint();
}

absl::Status ConstrainToObject(absl::string_view field, GenerationRequest& to) {
  ASSIGN_OR_RETURN(v1::Constraint * constraint, NewConstraint(field, to));
  constraint->mutable_json_object();
  return absl::OkStatus();
}

absl::Status ReadJsonObject(const JsonValue& value, GenerationRequest& to) {
  RETURN_IF_ERROR(ReadTrue(value, to));
  return ConstrainToObject(value.name(), to);
}

// The object json_schema of response_format.
struct NamedSchema {
  GenerationRequest& generation;
  bool named = false, has_schema = false;
};

constexpr JsonField<NamedSchema> kNamedSchemaFields[] = {
    {"name", "", "",
     [](const JsonValue& value, NamedSchema& to) {
       to.named = true;
       return value.String().status();
     }},
    {"description", "", "", ReadAnyString<NamedSchema>},
    // Schemas are always held.
    {"strict", "", "",
     [](const JsonValue& value, NamedSchema&) {
       return value.Bool().status();
     }},
    {"schema", "", "",
     [](const JsonValue& value, NamedSchema& to) {
       to.has_schema = true;
       RETURN_IF_ERROR(value.Expect(value.json().is_object(), "an object"));
       return ConstrainToJson(value.name(), value.json(), to.generation);
     }},
};

absl::Status ReadNamedSchema(const JsonValue& value, GenerationRequest& to) {
  NamedSchema schema{to};
  RETURN_IF_ERROR(ReadFields<NamedSchema>(value, kNamedSchemaFields, schema));
  if (schema.named && schema.has_schema) return absl::OkStatus();
  return FieldError(
      absl::StrCat(value.name(), schema.named ? ".schema" : ".name"),
      "is absent, must be there");
}

// JSON is written as it is without tools: see GrammarKind::kJsonSchema.
absl::StatusOr<std::string> SchemaRule(const std::string& field,
                                       const std::string& schema) {
  ASSIGN_OR_RETURN(Json json, ParseOrderedJsonObject(field, schema));
  if (!json.contains("x-guidance")) {
    json["x-guidance"] = {{"whitespace_flexible", false},
                          {"item_separator", ", "},
                          {"key_separator", ": "}};
  }
  return absl::StrCat("%json ", DumpJson(json));
}

// Between slashes.
std::string RegexRule(absl::string_view regex) {
  std::string rule = "/";
  for (size_t i = 0; i < regex.size(); ++i) {
    if (regex[i] == '/') rule += '\\';
    rule += regex[i];
    if (regex[i] == '\\' && i + 1 < regex.size()) rule += regex[++i];
  }
  return rule + "/";
}

}  // namespace

absl::Status ConstrainToJson(absl::string_view field, const Json& schema,
                             GenerationRequest& to) {
  ASSIGN_OR_RETURN(v1::Constraint * constraint, NewConstraint(field, to));
  constraint->set_json_schema(DumpJson(schema));
  return absl::OkStatus();
}

absl::Status ConstrainToGrammar(absl::string_view field,
                                const std::string& lark,
                                GenerationRequest& to) {
  ASSIGN_OR_RETURN(v1::Constraint * constraint, NewConstraint(field, to));
  constraint->set_lark(lark);
  return absl::OkStatus();
}

absl::Status ReadResponseFormat(const JsonValue& value, GenerationRequest& to) {
  ASSIGN_OR_RETURN(const std::vector<JsonValue> members, value.Members());
  std::string type;
  bool schema = false;
  for (const JsonValue& member : members) {
    if (member.key() == "type") {
      ASSIGN_OR_RETURN(type, member.String());
      RETURN_IF_ERROR(member.Expect(
          type == "text" || type == "json_object" || type == "json_schema",
          "text, json_object or json_schema"));
    } else if (member.key() == "json_schema") {
      schema = true;
      RETURN_IF_ERROR(ReadNamedSchema(member, to));
    } else {
      return UnknownField(member);
    }
  }
  if (type.empty()) {
    return FieldError(absl::StrCat(value.name(), ".type"),
                      "is absent, must be there");
  }
  if (schema != (type == "json_schema")) {
    return FieldError(absl::StrCat(value.name(), ".json_schema"),
                      absl::StrCat(schema ? "is given" : "is absent",
                                   ", but the type is ", type));
  }
  return type == "json_object" ? ConstrainToObject(value.name(), to)
                               : absl::OkStatus();
}

// A schema, or its text.
absl::Status ReadGuidedJson(const JsonValue& value, GenerationRequest& to) {
  const Json& json = value.json();
  RETURN_IF_ERROR(value.Expect(json.is_object() || json.is_string(),
                               "a JSON schema, as an object or a string"));
  if (json.is_object()) return ConstrainToJson(value.name(), json, to);
  ASSIGN_OR_RETURN(v1::Constraint * constraint,
                   NewConstraint(value.name(), to));
  constraint->set_json_schema(json.get_ref<const std::string&>());
  return absl::OkStatus();
}

absl::Status ReadGuidedRegex(const JsonValue& value, GenerationRequest& to) {
  ASSIGN_OR_RETURN(const std::string regex, value.String());
  ASSIGN_OR_RETURN(v1::Constraint * constraint,
                   NewConstraint(value.name(), to));
  constraint->set_regex(regex);
  return absl::OkStatus();
}

absl::Status ReadGuidedChoice(const JsonValue& value, GenerationRequest& to) {
  ASSIGN_OR_RETURN(const std::vector<JsonValue> entries, value.List());
  ASSIGN_OR_RETURN(v1::Constraint * constraint,
                   NewConstraint(value.name(), to));
  for (const JsonValue& entry : entries) {
    ASSIGN_OR_RETURN(*constraint->mutable_choices()->add_texts(),
                     entry.String());
  }
  return value.Expect(!entries.empty(), "a list that is not empty");
}

absl::Status ReadGuidedGrammar(const JsonValue& value, GenerationRequest& to) {
  ASSIGN_OR_RETURN(const std::string grammar, value.String());
  ASSIGN_OR_RETURN(v1::Constraint * constraint,
                   NewConstraint(value.name(), to));
  constraint->set_lark(grammar);
  return absl::OkStatus();
}

absl::Status ReadStructuredOutputs(const JsonValue& value,
                                   GenerationRequest& to) {
  static constexpr ConstraintField kConstraintFields[] = {
      {"json", "", "", ReadGuidedJson},
      {"regex", "", "", ReadGuidedRegex},
      {"choice", "", "", ReadGuidedChoice},
      {"grammar", "", "", ReadGuidedGrammar},
      {"json_object", "", "", ReadJsonObject},
  };
  RETURN_IF_ERROR(ReadFields<GenerationRequest>(value, kConstraintFields, to));
  return value.Expect(
      !to.constraint_field.empty(),
      "an object with json, json_object, regex, choice or grammar");
}

absl::StatusOr<std::string> AnswerRule(const GenerationRequest& generation) {
  const v1::Constraint& form = generation.request->params().constraint();
  switch (form.constraint_case()) {
    case v1::Constraint::kJsonSchema:
      return SchemaRule(generation.constraint_field, form.json_schema());
    case v1::Constraint::kJsonObject:
      return SchemaRule(generation.constraint_field, R"({"type": "object"})");
    case v1::Constraint::kRegex:
      return RegexRule(form.regex());
    case v1::Constraint::kChoices: {
      std::vector<std::string> texts;
      for (const std::string& text : form.choices().texts()) {
        texts.push_back(DumpJson(Json(text)));
      }
      return absl::StrJoin(texts, " | ");
    }
    case v1::Constraint::kLark:
      return FieldError(generation.constraint_field,
                        "is a grammar, and tools are given, whose calls it "
                        "would have to allow: must be absent");
    case v1::Constraint::CONSTRAINT_NOT_SET:
      break;
  }
  return std::string();
}

absl::Span<const absl::string_view> ConstraintNames() {
  static constexpr absl::string_view kNames[] = {
      "params.constraint.json_schema", "params.constraint.json_object",
      "params.constraint.regex",       "params.constraint.choices",
      "params.constraint.lark",        "params.constraint",
  };
  return kNames;
}

}  // namespace attend
