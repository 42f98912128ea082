#include "server/openai/function_grammar.h"

#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "engine/tensor/status_macros.h"
#include "server/http_call/http_status.h"
#include "server/http_call/json_value.h"
#include "server/openai/schema_references.h"

namespace attend {
namespace {

constexpr char kParameterEnd[] = "\n</parameter>\n";

std::string Quoted(const std::string& text) { return DumpJson(Json(text)); }

// Texts that end with `end`.
std::string TextRule(const char* name, const char* end) {
  return absl::StrCat(name, "[suffix=", Quoted(end), "]: /(.|\\n)*/\n");
}

// One of the texts that a schema lists; empty: it lists none.
std::string Listed(const Json& schema) {
  std::vector<std::string> texts;
  const Json list = schema.contains("const") ? Json::array({schema["const"]})
                                             : schema.value("enum", Json());
  for (const Json& value : list) {
    if (value.is_string()) texts.push_back(DumpJson(value));
  }
  return absl::StrJoin(texts, " | ");
}

// What holds the text of a string beyond its type; null: nothing.
const char* Restriction(const Json& schema) {
  for (const char* key : {"pattern", "format", "minLength", "maxLength", "$ref",
                          "allOf", "anyOf", "oneOf", "not"}) {
    if (schema.contains(key)) return key;
  }
  return nullptr;
}

// Rules of the parameters of one strict function.
class Parameters {
 public:
  Parameters(const Tool& tool, size_t index, std::string place)
      : schema_(tool.parameters), place_(std::move(place)), index_(index) {
    MoveReferences("#/$defs/parameters", schema_);
  }

  absl::Status AddRules(std::string& function, std::string& rules) const {
    const Json properties = schema_.value("properties", Json::object());
    const Json required = schema_.value("required", Json::array());
    size_t number = 0;
    for (const auto& [name, schema] : properties.items()) {
      const std::string rule = absl::StrCat("p", index_, "_", number++);
      absl::StrAppend(&function, " ", rule,
                      absl::c_linear_search(required, Json(name)) ? "" : "?");
      ASSIGN_OR_RETURN(const std::string value, ValueOf(name, schema));
      absl::StrAppend(&rules, rule, ": ",
                      Quoted(absl::StrCat("<parameter=", name, ">\n")), " ",
                      value, "\n");
    }
    return absl::OkStatus();
  }

 private:
  // The value of a parameter and the tag after it.
  absl::StatusOr<std::string> ValueOf(const std::string& name,
                                      const Json& schema) const {
    if (schema.is_object() && schema.value("type", Json()) == Json("string")) {
      const std::string listed = Listed(schema);
      if (!listed.empty()) {
        return absl::StrCat("(", listed, ") ", Quoted(kParameterEnd));
      }
      const char* const restriction = Restriction(schema);
      if (restriction == nullptr) return std::string("text");
      return FieldError(
          absl::StrCat(place_, ".function.strict"),
          absl::StrCat("is true, needs a tool_choice that is required or names "
                       "a function: this model writes texts without quotes, "
                       "and '",
                       restriction, "' of parameter '", name.substr(0, 80),
                       "' holds texts in quotes only"));
    }
    Json value = schema;
    if (value.is_object()) {
      value["$defs"] = {{"parameters", schema_}};
      value["x-guidance"] = {{"whitespace_flexible", false},
                             {"item_separator", ", "},
                             {"key_separator", ": "}};
    }
    return absl::StrCat("%json ", DumpJson(value), " ", Quoted(kParameterEnd));
  }

  Json schema_;
  const std::string place_;  // of the tool, for errors
  const size_t index_;
};

}  // namespace

absl::StatusOr<std::string> FunctionRules(const std::vector<Tool>& tools) {
  std::vector<std::string> names;
  std::string rules = TextRule("text", kParameterEnd);
  absl::StrAppend(&rules, TextRule("rest", "</function>"));
  for (size_t i = 0; i < tools.size(); ++i) {
    names.push_back(absl::StrCat("f", i));
    std::string function = absl::StrCat(
        names[i], ": ", Quoted(absl::StrCat("<function=", tools[i].name, ">")));
    if (tools[i].strict) {
      function += " \"\\n\"";
      RETURN_IF_ERROR(Parameters(tools[i], i, absl::StrCat("tools[", i, "]"))
                          .AddRules(function, rules));
      function += " \"</function>\"";
    } else {
      function += " rest";
    }
    absl::StrAppend(&rules, function, "\n");
  }
  return absl::StrCat("function: ", absl::StrJoin(names, " | "), "\n", rules);
}

}  // namespace attend
