#include "server/openai/tools.h"

#include <algorithm>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "engine/tensor/status_macros.h"
#include "server/http_call/http_status.h"

namespace attend {
namespace {

// Of an object; null: it has none, or it is null.
const Json* Member(const Json& json, const char* key) {
  if (!json.is_object()) return nullptr;
  const auto found = json.find(key);
  return found == json.end() || found->is_null() ? nullptr : &*found;
}

bool Is(const Json* json, const char* text) {
  return json != nullptr && *json == Json(text);
}

// A function without parameters takes no arguments.
Json NoParameters() {
  return {{"type", "object"},
          {"properties", Json::object()},
          {"additionalProperties", false}};
}

// Arguments are an object, if a schema says so or not.
absl::Status MakeObject(const JsonValue& schema, Json& parameters) {
  const Json* const type = Member(schema.json(), "type");
  if (type != nullptr && !Is(type, "object") &&
      !(type->is_array() && absl::c_linear_search(*type, Json("object")))) {
    return FieldError(schema.name() + ".type", "must be \"object\"");
  }
  // A schema that is another one is an object if that is one.
  if (!parameters.contains("$ref")) parameters["type"] = "object";
  return absl::OkStatus();
}

absl::StatusOr<Tool> ReadTool(const JsonValue& value) {
  const Json* const function = Member(value.json(), "function");
  const Json* const name =
      function == nullptr ? nullptr : Member(*function, "name");
  if (!Is(Member(value.json(), "type"), "function") || name == nullptr ||
      !name->is_string()) {
    return FieldError(
        value.name(),
        "must be {\"type\": \"function\", \"function\": {\"name\", ...}}");
  }
  Tool tool{.name = name->get<std::string>(), .parameters = NoParameters()};
  const std::string path = absl::StrCat(value.name(), ".function.");
  if (const Json* parameters = Member(*function, "parameters")) {
    const JsonValue schema(*parameters, path + "parameters");
    RETURN_IF_ERROR(schema.Expect(parameters->is_object(), "an object"));
    tool.parameters = *parameters;
    RETURN_IF_ERROR(MakeObject(schema, tool.parameters));
  }
  if (const Json* strict = Member(*function, "strict")) {
    ASSIGN_OR_RETURN(tool.strict, JsonValue(*strict, path + "strict").Bool());
  }
  return tool;
}

}  // namespace

absl::StatusOr<std::vector<Tool>> ReadTools(const JsonValue& value) {
  ASSIGN_OR_RETURN(const std::vector<JsonValue> entries, value.List());
  std::vector<Tool> tools;
  for (const JsonValue& entry : entries) {
    ASSIGN_OR_RETURN(tools.emplace_back(), ReadTool(entry));
  }
  return tools;
}

absl::Status ReadToolChoice(const JsonValue& value, ToolFields& to) {
  constexpr std::pair<const char*, ToolChoice> kChoices[] = {
      {"none", ToolChoice::kNone},
      {"auto", ToolChoice::kAuto},
      {"required", ToolChoice::kRequired}};
  for (const auto& [name, choice] : kChoices) {
    if (!Is(&value.json(), name)) continue;
    to.choice = choice;
    return absl::OkStatus();
  }
  const Json* const function = Member(value.json(), "function");
  const Json* const name =
      function == nullptr ? nullptr : Member(*function, "name");
  RETURN_IF_ERROR(value.Expect(
      Is(Member(value.json(), "type"), "function") && name != nullptr &&
          name->is_string() && value.json().size() == 2 &&
          function->size() == 1,
      "none, auto, required, or {\"type\": \"function\", \"function\": "
      "{\"name\"}}"));
  to.choice = ToolChoice::kNamed;
  to.name = name->get<std::string>();
  return absl::OkStatus();
}

const Tool* NamedTool(const ToolFields& fields) {
  const auto found =
      std::find_if(fields.tools.begin(), fields.tools.end(),
                   [&](const Tool& tool) { return tool.name == fields.name; });
  return found == fields.tools.end() ? nullptr : &*found;
}

absl::Status CheckTools(const ToolFields& fields) {
  if (fields.must_call() && fields.tools.empty()) {
    return FieldError("tool_choice", "asks for a call, needs tools");
  }
  if (fields.choice == ToolChoice::kNamed && NamedTool(fields) == nullptr) {
    return FieldError("tool_choice",
                      absl::StrCat("names a function that tools do not have: '",
                                   fields.name.substr(0, 80), "'"));
  }
  return absl::OkStatus();
}

}  // namespace attend
