#include "server/openai/tool_calls.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "engine/tokenizer/sandbox/sandbox.h"
#include "tests/support/field_rows.h"

namespace attend {
namespace {

// "text|name(arguments)|name(arguments)": what a parser finds in all.
std::string Found(const std::vector<ToolCallParser::Found>& parts) {
  std::string text, calls;
  for (const ToolCallParser::Found& part : parts) {
    text += part.text;
    for (const ToolCall& call : part.calls) {
      absl::StrAppend(&calls, "|", call.name, "(", call.arguments, ")");
    }
  }
  return text + calls;
}

// f, with parameters of all types, and g.
std::vector<Tool> Tools() {
  Json properties = Json::object();
  for (const char* type :
       {"string", "integer", "number", "boolean", "object", "array"}) {
    properties[std::string(1, type[0])] = {{"type", type}};
  }
  return {{.name = "f", .parameters = {{"properties", properties}}},
          {.name = "g", .parameters = Json::object()}};
}

struct Case {
  ToolFormat format;
  const char *text, *found;
};

constexpr Case kCases[] = {
    {ToolFormat::kNone, "<tool_call>{\"name\": \"f\"}</tool_call>",
     "<tool_call>{\"name\": \"f\"}</tool_call>"},
    {ToolFormat::kTagged, "Hello.", "Hello."},
    {ToolFormat::kTagged, " Two lines\n\n", " Two lines\n\n"},
    {ToolFormat::kTagged,
     "<tool_call>\n{\"name\": \"f\", \"arguments\": {\"b\": 1, \"a\": \"x\"}}\n"
     "</tool_call>",
     "|f({\"b\":1,\"a\":\"x\"})"},
    {ToolFormat::kTagged,
     "Let me see.\n<tool_call>{\"name\": \"f\", \"arguments\": "
     "{}}</tool_call>\n"
     "<tool_call>{\"name\": \"g\"}</tool_call>\n",
     "Let me see.|f({})|g({})"},
    // The end tag may be an end token of the model.
    {ToolFormat::kTagged, "<tool_call>{\"name\": \"f\", \"arguments\": {}}",
     "|f({})"},
    // What is no call stays as it is.
    {ToolFormat::kTagged, "<tool_call>no json</tool_call> and more",
     "<tool_call>no json</tool_call> and more"},
    {ToolFormat::kTagged, "a <tool_call", "a <tool_call"},
    // Arguments are an object, or one as text; a client could not send others
    // back.
    {ToolFormat::kTagged,
     "<tool_call>{\"name\": \"f\", \"arguments\": \"{}\"}</tool_call>"
     "<tool_call>{\"name\": \"g\", \"arguments\": null}</tool_call>",
     "|f({})|g({})"},
    {ToolFormat::kTagged,
     "<tool_call>{\"name\": \"f\", \"arguments\": \"a\"}</tool_call>",
     "<tool_call>{\"name\": \"f\", \"arguments\": \"a\"}</tool_call>"},
    {ToolFormat::kTagged,
     "<tool_call>{\"name\": \"f\", \"arguments\": [1]}</tool_call>",
     "<tool_call>{\"name\": \"f\", \"arguments\": [1]}</tool_call>"},
    {ToolFormat::kTagged, "a <tool_call>{\"name\"", "a <tool_call>{\"name\""},
    {ToolFormat::kTagged, "Hi\n <tool_call> is a tag",
     "Hi\n <tool_call> is a tag"},
    {ToolFormat::kTagged, "<tool_call>{no json</tool_call> and more",
     "<tool_call>{no json</tool_call> and more"},
    // What is wrong in one call is not wrong in the next.
    {ToolFormat::kTagged,
     "<tool_call>{\"f\": \"x</tool_call>\n<tool_call>{\"name\": \"g\"}}"
     "</tool_call><tool_call>{\"name\": \"h\"}</tool_call>",
     "<tool_call>{\"f\": \"x</tool_call>\n<tool_call>{\"name\": \"g\"}}"
     "</tool_call>|h({})"},
    {ToolFormat::kTagged, "a < b", "a < b"},
    // A string is no tag, and numbers are as they were written.
    {ToolFormat::kTagged,
     "<tool_call>{\"name\": \"f\", \"arguments\": {\"x\": \"</tool_call> "
     "\\\"\"}}</tool_call>",
     "|f({\"x\":\"</tool_call> \\\"\"})"},
    {ToolFormat::kTagged,
     "<tool_call>{\"x\": [{\"arguments\": {}}], \"name\": \"f\", "
     "\"arguments\": "
     "{\"x\": 12345678901234567890123, \"y\": 1.10}}</tool_call>",
     "|f({\"x\":12345678901234567890123,\"y\":1.10})"},
    {ToolFormat::kCalls,
     "[{\"name\": \"f\", \"arguments\": {\"x\": 1e2}}, {\"name\": \"g\", "
     "\"arguments\": {\"y\": 99999999999999999999}}]",
     "|f({\"x\":1e2})|g({\"y\":99999999999999999999})"},
    {ToolFormat::kMistral,
     "[{\"name\": \"f\", \"arguments\": {\"a\": [1]}}, {\"name\": \"g\", "
     "\"arguments\": {}}]",
     "|f({\"a\":[1]})|g({})"},
    {ToolFormat::kMistral, "[TOOL_CALLS] [{\"name\": \"f\"}]", "|f({})"},
    {ToolFormat::kMistral, "f{\"a\": \"}\"}g{}", "|f({\"a\": \"}\"})|g({})"},
    {ToolFormat::kMistral, "[1] is a reference", "[1] is a reference"},
    {ToolFormat::kMistral, "for example", "for example"},
    {ToolFormat::kMistral, "[{\"name\": \"Alice\", \"age\": 3}]",
     "[{\"name\": \"Alice\", \"age\": 3}]"},
    {ToolFormat::kMistral, "f{broken", "f{broken"},
    {ToolFormat::kObjects,
     "{\"name\": \"f\", \"parameters\": {\"a\": \"\\\"}\"}}",
     "|f({\"a\":\"\\\"}\"})"},
    {ToolFormat::kObjects,
     "{\"name\": \"f\", \"parameters\": {}}; {\"name\": \"g\", "
     "\"parameters\": {}}",
     "|f({})|g({})"},
    // An object that names no function that there is, is an answer.
    {ToolFormat::kObjects, "{\"name\": \"Ann\", \"age\": 7}",
     "{\"name\": \"Ann\", \"age\": 7}"},
    {ToolFormat::kObjects, "{\"name\": \"f\"} is it",
     "{\"name\": \"f\"} is it"},
    {ToolFormat::kObjects, "No. {}", "No. {}"},
    // A list, as Phi-4-mini writes it.
    {ToolFormat::kObjects,
     "<|tool_call|>[{\"name\": \"f\", \"arguments\": {\"a\": 1}}, "
     "{\"name\": \"g\"}]<|/tool_call|>",
     "|f({\"a\":1})|g({})"},
    {ToolFormat::kObjects, "[{\"name\": \"h\", \"arguments\": {}}]",
     "[{\"name\": \"h\", \"arguments\": {}}]"},
    {ToolFormat::kObjects, "[1] says", "[1] says"},
    // Llama 3.1
    {ToolFormat::kObjects, "<function=f>{\"a\": \"</function>\"}</function>",
     "|f({\"a\":\"</function>\"})"},
    {ToolFormat::kObjects, "I call: <function=f>{\"a\": 1}</function>",
     "I call:|f({\"a\":1})"},
    {ToolFormat::kObjects, "<|python_tag|>{\"name\": \"f\"}", "|f({})"},
    {ToolFormat::kFunction,
     "<function=f>{\"a\": 1}</function>\n<function=g>{}</function>",
     "|f({\"a\":1})|g({})"},
    {ToolFormat::kFunction, "<function=g>", "|g({})"},
    {ToolFormat::kFunction, "<function=h>{}</function>",
     "<function=h>{}</function>"},
    {ToolFormat::kFunction, "<function=f>{\"a\": </function> x",
     "<function=f>{\"a\": </function> x"},
    {ToolFormat::kFunction, "a <functional> b", "a <functional> b"},
    {ToolFormat::kTagged, "<function=f>{}</function>",
     "<function=f>{}</function>"},
    // Qwen3-Coder: what a value is, the schema says.
    {ToolFormat::kTaggedFunction,
     "I look.\n<tool_call>\n<function=f>\n<parameter=s>\n12\n</parameter>\n"
     "<parameter=i>\n12\n</parameter>\n<parameter=n>\n1.5\n</parameter>\n"
     "<parameter=b>\nTrue\n</parameter>\n<parameter=o>\n{\"k\": [1]}\n"
     "</parameter>\n<parameter=a>\n[1, 2]\n</parameter>\n</function>\n"
     "</tool_call>",
     "I look.|f({\"s\":\"12\",\"i\":12,\"n\":1.5,\"b\":true,\"o\":{"
     "\"k\":[1]},\"a\":[1,2]})"},
    {ToolFormat::kTaggedFunction,
     "<tool_call><function=g><parameter=x>\n\n two\nlines\n\n</parameter>"
     "<parameter=y>3</parameter></function></tool_call>",
     "|g({\"x\":\"\\n two\\nlines\\n\",\"y\":3})"},
    {ToolFormat::kTaggedFunction, "<function=g>\n</function>\n</tool_call>",
     "\n</tool_call>|g({})"},
    {ToolFormat::kTaggedFunction,
     "<tool_call>\n{\"name\": \"f\", \"arguments\": {}}\n</tool_call>",
     "|f({})"},
    {ToolFormat::kTaggedFunction, "<tool_call><function=f>x</tool_call>",
     "<tool_call><function=f>x</tool_call>"},
    {ToolFormat::kArguments, "{\"a\": 1}", "|f({\"a\": 1})"},
    {ToolFormat::kCalls,
     "[{\"name\": \"f\", \"arguments\": {}}, {\"name\": \"g\", "
     "\"arguments\": {\"a\": 1}}]",
     "|f({})|g({\"a\":1})"},
    {ToolFormat::kCalls, "[{\"name\": \"f\"", "[{\"name\": \"f\""},
};

TEST(ToolCallsTest, AreFoundInWholeTexts) {
  for (const Case& c : kCases) {
    ToolCallParser parser(c.format, Tools());
    EXPECT_EQ(Found({parser.Append(c.text, /*last=*/true)}), c.found) << c.text;
  }
}

// However the text is cut, the same is found.
TEST(ToolCallsTest, AreFoundWhileTheTextGrows) {
  for (const Case& c : kCases) {
    for (const size_t step : {1, 3, 7}) {
      ToolCallParser parser(c.format, Tools());
      const std::string text = c.text;
      std::vector<ToolCallParser::Found> parts;
      for (size_t i = 0; i < text.size(); i += step) {
        parts.push_back(parser.Append(text.substr(i, step), false));
      }
      parts.push_back(parser.Append("", true));
      EXPECT_EQ(Found(parts), c.found) << c.text;
    }
  }
}

TEST(ToolCallsTest, FormatsOfPublishedTemplates) {
  for (const nlohmann::json& row : FieldRows("tool_calls")) {
    const auto chat = ChatTemplate::Create(
        {{"default", "chat_template.jinja", "",
          absl::StrCat("{{ messages[0].content }}{{ tools }}{# ",
                       row["marks"].get<std::string>(), " #}")}},
        HfConfig());
    ASSERT_TRUE(chat.ok()) << chat.status();
    std::string expected = row["left"];
    for (const auto& call : row["calls"]) {
      absl::StrAppend(&expected, "|", call[0].get<std::string>(), "(",
                      call[1].dump(), ")");
    }
    const std::string text = row["text"];
    for (const size_t step : {size_t{1}, size_t{5}, text.size()}) {
      ToolCallParser parser(ToolFormatOf(**chat), Tools());
      std::vector<ToolCallParser::Found> parts;
      for (size_t i = 0; i < text.size(); i += step) {
        parts.push_back(parser.Append(text.substr(i, step), false));
      }
      parts.push_back(parser.Append("", true));
      for (ToolCallParser::Found& part : parts) {
        for (ToolCall& call : part.calls) {
          call.arguments = nlohmann::json::parse(call.arguments).dump();
        }
      }
      EXPECT_EQ(Found(parts), expected) << row["case"] << " " << step;
    }
  }
}

// A thought that was cut is followed by no arguments.
TEST(ToolCallsTest, NoArgumentsAreNoCall) {
  ToolCallParser parser(ToolFormat::kArguments, Tools());
  EXPECT_EQ(Found({parser.Append("", /*last=*/true)}), "");
}

// Each brace may begin arguments up to the end.
TEST(ToolCallsTest, ATextFullOfBeginningsIsReadInTime) {
  std::string text;
  for (int i = 0; i < 200'000; ++i) text += "f{";
  ToolCallParser parser(ToolFormat::kMistral, Tools());
  EXPECT_EQ(parser.Append(text, /*last=*/true).text, text);
}

// What cannot be a call is not held back.
TEST(ToolCallsTest, OtherTextComesAtOnce) {
  for (const ToolFormat format :
       {ToolFormat::kTagged, ToolFormat::kMistral, ToolFormat::kObjects}) {
    ToolCallParser parser(format, Tools());
    EXPECT_EQ(parser.Append("Hello", false).text, "Hello");
    EXPECT_EQ(parser.Append(" there", false).text, " there");
  }
}

}  // namespace
}  // namespace attend
