#include "server/openai/tools.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "server/http_call/http_status.h"
#include "server/openai/call_grammar.h"

namespace attend {
namespace {

// Of a request with these fields: the schema of the calls as text, "" if none
// is asked for, or the error.
std::string Schema(const char* tools, const char* choice,
                   bool parallel = true) {
  ToolFields fields;
  fields.parallel = parallel;
  absl::Status status =
      ReadToolChoice({Json::parse(choice), "tool_choice"}, fields);
  if (status.ok()) {
    auto read = ReadTools({Json::parse(tools), "tools"});
    status = read.status();
    if (read.ok()) fields.tools = *std::move(read);
  }
  if (status.ok()) status = CheckTools(fields);
  if (!status.ok()) return std::string(status.message());
  return fields.must_call() ? DumpJson(CallSchema(fields)) : "";
}

constexpr char kTools[] =
    R"([{"type": "function", "function": {"name": "f", "strict": false,
         "parameters": {"$ref": "#/$defs/A", "$defs": {"A": {"enum": [1]}}}}},
        {"type": "function", "function": {"name": "g"}}])";
constexpr char kStrict[] =
    R"([{"type": "function", "function": {"name": "f", "strict": true}}])";
constexpr char kF[] = R"({"type": "function", "function": {"name": "f"}})";

TEST(ToolsTest, TheSchemaOfACertainFunctionIsThatOfItsArguments) {
  EXPECT_EQ(Schema(kTools, kF),
            R"({"$ref":"#/$defs/A","$defs":{"A":{"enum":[1]}}})");
  EXPECT_EQ(
      Schema(kStrict, kF),
      R"({"type":"object","properties":{},"additionalProperties":false})");
}

TEST(ToolsTest, TheSchemaOfSomeCallsIsAListWithReferencesOfItsOwn) {
  constexpr char kSchema[] =
      R"({"$defs":{)"
      R"("0":{"$ref":"#/$defs/0/$defs/A","$defs":{"A":{"enum":[1]}}},)"
      R"("1":{"type":"object","properties":{},"additionalProperties":false}},)"
      R"("type":"array","items":{"anyOf":[)"
      R"({"type":"object","properties":{"name":{"const":"f"},)"
      R"("arguments":{"$ref":"#/$defs/0"}},)"
      R"("required":["name","arguments"],"additionalProperties":false},)"
      R"({"type":"object","properties":{"name":{"const":"g"},)"
      R"("arguments":{"$ref":"#/$defs/1"}},)"
      R"("required":["name","arguments"],"additionalProperties":false}]},)"
      R"("minItems":1)";
  EXPECT_EQ(Schema(kTools, "\"required\""), std::string(kSchema) + "}");
  EXPECT_EQ(Schema(kTools, "\"required\"", /*parallel=*/false),
            std::string(kSchema) + R"(,"maxItems":1})");
}

TEST(ToolsTest, ArgumentsAreAnObject) {
  const auto schema = [](const std::string& parameters) {
    const std::string tools =
        R"([{"type": "function", "function": {"name": "f", "parameters": )" +
        parameters + "}}]";
    return Schema(tools.c_str(), kF);
  };
  EXPECT_EQ(schema("{}"), R"({"type":"object"})");
  EXPECT_EQ(schema(R"({"properties": {"a": {}}})"),
            R"({"properties":{"a":{}},"type":"object"})");
  EXPECT_EQ(schema(R"({"type": "string"})"),
            "tools[0].function.parameters.type must be \"object\"");
}

TEST(ToolsTest, DataIsNoReference) {
  constexpr char kData[] =
      R"([{"type": "function", "function": {"name": "f", "parameters":
          {"type": "object", "properties": {
            "const": {"$ref": "#/a", "enum": [{"$ref": "#/a"}]},
            "b": {"items": [{"$ref": "#"}], "default": {"$ref": "#/a"}}}}}}])";
  EXPECT_THAT(Schema(kData, "\"required\""),
              testing::HasSubstr(R"({"type":"object","properties":{)"
                                 R"("const":{"$ref":"#/$defs/0/a",)"
                                 R"("enum":[{"$ref":"#/a"}]},)"
                                 R"("b":{"items":[{"$ref":"#/$defs/0"}],)"
                                 R"("default":{"$ref":"#/a"}}}})"));
}

TEST(ToolsTest, WithoutADutyToCallNothingIsHeld) {
  EXPECT_EQ(Schema(kTools, "\"auto\""), "");
  EXPECT_EQ(Schema(kStrict, "\"none\"", /*parallel=*/false), "");
}

TEST(ToolsTest, ErrorsNameTheField) {
  constexpr char kTool[] =
      "tools[0] must be {\"type\": \"function\", \"function\": {\"name\", "
      "...}}";
  constexpr char kChoice[] =
      ", must be none, auto, required, or {\"type\": \"function\", "
      "\"function\": {\"name\"}}";
  const struct {
    const char *tools, *choice;
    bool parallel;
    std::string error;
  } cases[] = {
      {"[]", "\"required\"", true, "tool_choice asks for a call, needs tools"},
      {"[1]", "\"auto\"", true, kTool},
      {R"([{"type": "function"}])", "\"auto\"", true, kTool},
      {R"([{"type": "web", "function": {"name": "f"}}])", "\"auto\"", true,
       kTool},
      {R"([{"type": "function", "function": {"name": 1}}])", "\"auto\"", true,
       kTool},
      {R"([{"type": "function", "function": {"name": "f", "parameters": 1}}])",
       "\"auto\"", true,
       "tools[0].function.parameters is 1, must be an object"},
      {R"([{"type": "function", "function": {"name": "f", "strict": 1}}])",
       "\"auto\"", true,
       "tools[0].function.strict is 1, must be true or false"},
      {kTools, "\"any\"", true,
       std::string("tool_choice is \"any\"") + kChoice},
      {kTools, R"({"type": "allowed_tools", "function": {"name": "f"}})", true,
       std::string("tool_choice is an object") + kChoice},
      {kTools, R"({"type": "function", "function": {"name": "h"}})", true,
       "tool_choice names a function that tools do not have: 'h'"},
  };
  for (const auto& c : cases) {
    EXPECT_EQ(Schema(c.tools, c.choice, c.parallel), c.error) << c.tools;
  }
  ToolFields none;
  none.choice = ToolChoice::kRequired;
  EXPECT_EQ(FieldOf(CheckTools(none)), "tool_choice");
}

}  // namespace
}  // namespace attend
