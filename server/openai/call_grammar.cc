#include "server/openai/call_grammar.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "engine/tensor/status_macros.h"
#include "server/http_call/http_status.h"
#include "server/openai/call_tags.h"
#include "server/openai/function_grammar.h"
#include "server/openai/recipient_calls.h"
#include "server/openai/schema_references.h"

namespace attend {
namespace {

// Schemas of calls of single functions, with what they refer to.
struct CallSchemas {
  Json definitions = Json::object();
  Json calls = Json::array();

  // `key`: the member that has the arguments.
  void Add(const std::string& name, const char* key, const Json& arguments) {
    const std::string index = absl::StrCat(calls.size());
    const std::string place = absl::StrCat("#/$defs/", index);
    definitions[index] = arguments;
    MoveReferences(place, definitions[index]);
    calls.push_back({{"type", "object"},
                     {"properties",
                      {{"name", {{"const", name}}}, {key, {{"$ref", place}}}}},
                     {"required", Json::array({"name", key})},
                     {"additionalProperties", false}});
  }
};

// The schema of a call of one of `tools` by a model's own choice. Spaces are
// where models write them.
Json OneCall(const std::vector<Tool>& tools, const char* key) {
  CallSchemas schemas;
  for (const Tool& tool : tools) {
    const Json any = {{"type", "object"}};
    schemas.Add(tool.name, key, tool.strict ? tool.parameters : any);
  }
  return {{"$defs", std::move(schemas.definitions)},
          {"anyOf", std::move(schemas.calls)},
          {"x-guidance",
           {{"whitespace_flexible", false},
            {"item_separator", ", "},
            {"key_separator", ": "}}}};
}

std::string ObjectRule(const ToolFields& fields, const char* key) {
  return absl::StrCat("object: %json ", DumpJson(OneCall(fields.tools, key)),
                      "\n");
}

std::string TextWithout(absl::string_view regex) {
  return absl::StrCat("/(.|\\n)*/ & ~/(.|\\n)*", regex, "(.|\\n)*/");
}

// Calls in <tool_call>; `call` has the rule of what is inside, up to the end.
// `call_tags`: a regular expression of what calls begin with, which other text
// does not have.
std::string TaggedGrammar(const ToolFields& fields, const std::string& answer,
                          const std::string& call,
                          absl::string_view call_tags = "<tool_call>") {
  if (!answer.empty()) {
    return absl::StrCat("start: answer | tagged", fields.parallel ? "+" : "",
                        "\nanswer: ", answer,
                        "\ntagged: /\\n*/ \"<tool_call>\" call\n", call);
  }
  return absl::StrCat(fields.parallel ? "start: (lead call)* REST?\n"
                                      : "start: REST? | lead call\n",
                      "lead[suffix=\"<tool_call>\"]: LEAD\n", call,
                      "LEAD: ", TextWithout(call_tags), "\nREST: /(.|\\n)+/ & ",
                      TextWithout(call_tags), "\n");
}

// What the parser takes for the beginning of a call, as a regular expression.
std::string AnyTag() {
  std::string tags = "(functools\\[|<\\|python_tag\\|>";
  for (const CallTags& tag : kCallTags) {
    absl::StrAppend(&tags, "|", absl::StrReplaceAll(tag.open, {{"|", "\\|"}}));
  }
  return tags + ")";
}

// Calls as objects, one after the other.
std::string ObjectGrammar(const ToolFields& fields, const std::string& answer) {
  const std::string rest =
      answer.empty() ? absl::StrCat("TEXT: /[ \\n]*[^{\\[ \\n](.|\\n)*/ & ",
                                    TextWithout(AnyTag()), "\n")
                     : absl::StrCat("answer: ", answer, "\n");
  return absl::StrCat("start: ", answer.empty() ? "TEXT?" : "answer",
                      " | object", fields.parallel ? " (\"; \" object)*" : "",
                      "\n", rest, ObjectRule(fields, "parameters"));
}

// Calls as a list.
std::string ListGrammar(const ToolFields& fields, const std::string& answer) {
  return absl::StrCat("start: answer | \"[\" object",
                      fields.parallel ? " (\", \" object)*" : "",
                      " \"]\"\nanswer: ", answer, "\n",
                      ObjectRule(fields, "arguments"));
}

// An answer, or any text that begins as one of `calls`.
std::string BeginningGrammar(const std::string& answer,
                             const std::vector<std::string>& calls) {
  std::vector<std::string> begin;
  begin.reserve(calls.size());
  for (const std::string& call : calls) begin.push_back(DumpJson(Json(call)));
  return absl::StrCat("start: answer | begin REST\nanswer: ", answer,
                      "\nbegin: ", absl::StrJoin(begin, " | "),
                      "\nREST: /(.|\\n)*/\n");
}

std::string AnyTagGrammar(const std::string& answer) {
  std::vector<std::string> tags;
  for (const CallTags& tag : kCallTags) tags.emplace_back(tag.open);
  return BeginningGrammar(answer, tags);
}

std::string RecipientGrammar(const ToolFields& fields,
                             const std::string& answer) {
  std::vector<std::string> names;
  names.reserve(fields.tools.size());
  for (const Tool& tool : fields.tools) names.push_back(tool.name + "\n");
  return BeginningGrammar(absl::StrCat(DumpJson(Json(kToAll)), " ", answer),
                          names);
}

}  // namespace

Json CallSchema(const ToolFields& fields) {
  if (fields.choice == ToolChoice::kNamed) return NamedTool(fields)->parameters;
  CallSchemas schemas;
  for (const Tool& tool : fields.tools) {
    schemas.Add(tool.name, "arguments", tool.parameters);
  }
  Json schema = {{"$defs", std::move(schemas.definitions)},
                 {"type", "array"},
                 {"items", {{"anyOf", std::move(schemas.calls)}}},
                 {"minItems", 1}};
  if (!fields.parallel) schema["maxItems"] = 1;
  return schema;
}

absl::StatusOr<std::string> CallGrammar(const ToolFields& fields,
                                        ToolFormat format,
                                        const std::string& answer) {
  const auto strict =
      std::find_if(fields.tools.begin(), fields.tools.end(),
                   [](const Tool& tool) { return tool.strict; });
  const bool any_strict = strict != fields.tools.end();
  if (!any_strict && fields.parallel && answer.empty()) return std::string();
  switch (format) {
    case ToolFormat::kTagged:
      return TaggedGrammar(
          fields, answer,
          absl::StrCat("call: /\\n?/ object /\\n?/ \"</tool_call>\"\n",
                       ObjectRule(fields, "arguments")));
    case ToolFormat::kObjects:
      return ObjectGrammar(fields, answer);
    case ToolFormat::kTaggedFunction: {
      ASSIGN_OR_RETURN(const std::string function, FunctionRules(fields.tools));
      return TaggedGrammar(
          fields, answer,
          absl::StrCat("call: /\\n?/ function /\\n?/ \"</tool_call>\"\n",
                       function),
          "(<tool_call>|<function=)");
    }
    case ToolFormat::kTaggedKeys:
      if (any_strict) break;
      return TaggedGrammar(fields, answer,
                           "call[suffix=\"</tool_call>\"]: /(.|\\n)*/\n");
    case ToolFormat::kMistral:
      if (answer.empty()) break;
      return ListGrammar(fields, answer);
    case ToolFormat::kFunction:
      if (any_strict || answer.empty()) break;
      return AnyTagGrammar(answer);
    case ToolFormat::kRecipients:
      if (any_strict || answer.empty()) break;
      return RecipientGrammar(fields, answer);
    default:
      break;
  }
  // The parser leaves out further calls.
  if (!any_strict && answer.empty()) return std::string();
  const std::string field =
      any_strict ? absl::StrCat("tools[", strict - fields.tools.begin(),
                                "].function.strict is true")
                 : "tools are given beside a form of the text";
  const size_t name_end = field.find(' ');
  return FieldError(
      field.substr(0, name_end),
      absl::StrCat(field.substr(name_end + 1),
                   ", needs a tool_choice that is required or names a "
                   "function: ",
                   format == ToolFormat::kMistral
                       ? "this model begins a call with a token that is no text"
                       : "this model writes arguments in a form that no schema "
                         "holds"));
}

}  // namespace attend
