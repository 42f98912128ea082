#include "server/openai/call_grammar.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "engine/grammar/grammar_compiler.h"
#include "tests/engine/grammar/piece_tokenizer.h"

namespace attend {
namespace {

const PieceTokenizer& Bytes() {
  static const auto& tokenizer = *new PieceTokenizer([] {
    std::vector<std::string> texts;
    for (int byte = 0; byte < 256; ++byte) {
      texts.push_back(std::string(1, static_cast<char>(byte)));
    }
    return texts;
  }());
  return tokenizer;
}

ToolFields Fields(const std::string& strict, bool parallel) {
  ToolFields fields;
  fields.parallel = parallel;
  const std::string tools = absl::StrCat(
      R"([{"type": "function", "function": {"name": "f", "strict": )", strict,
      R"(, "parameters": {"type": "object", "properties": {"x": {
           "$ref": "#/$defs/A"}}, "required": ["x"],
           "additionalProperties": false, "$defs": {"A": {"enum": [1, 7]}}}}},
          {"type": "function", "function": {"name": "g"}}])");
  auto read = ReadTools({Json::parse(tools), "tools"});
  EXPECT_TRUE(read.ok()) << read.status();
  fields.tools = *std::move(read);
  return fields;
}

// How much of a text a grammar allows, and whether the text may end there.
struct Allowed {
  std::string text;
  bool whole = false;
};

class CallGrammarTest : public testing::Test {
 protected:
  void Hold(const ToolFields& fields, ToolFormat format,
            const std::string& answer = "") {
    auto grammar = CallGrammar(fields, format, answer);
    ASSERT_TRUE(grammar.ok()) << grammar.status();
    auto compiled = compiler_.Compile({GrammarKind::kLark, *grammar});
    ASSERT_TRUE(compiled.ok()) << compiled.status() << *grammar;
    constraint_ = *std::move(compiled);
  }
  Allowed Follow(const std::string& text) const {
    const auto state = constraint_->Begin();
    std::vector<uint32_t> mask(MaskWords(256));
    for (size_t at = 0;; ++at) {
      const auto can_end = state->Mask(absl::MakeSpan(mask));
      EXPECT_TRUE(can_end.ok()) << can_end.status();
      const int byte = static_cast<unsigned char>(text[at]);
      if (at == text.size() || !(mask[byte / 32] >> (byte % 32) & 1)) {
        return {text.substr(0, at), can_end.ok() && *can_end};
      }
      EXPECT_TRUE(state->Append(byte).ok());
    }
  }
  void ExpectWhole(const std::string& text) const {
    const Allowed allowed = Follow(text);
    EXPECT_EQ(allowed.text, text);
    EXPECT_TRUE(allowed.whole) << text;
  }
  void ExpectCut(const std::string& text, const std::string& rest) const {
    const Allowed allowed = Follow(text + rest);
    EXPECT_EQ(allowed.text, text);
  }

  const GrammarCompiler compiler_{Bytes(), 256, /*begins_text=*/false};
  std::shared_ptr<const Constraint> constraint_;
};

TEST_F(CallGrammarTest, NothingIsHeldWithoutAReason) {
  for (const ToolFormat format :
       {ToolFormat::kTagged, ToolFormat::kObjects, ToolFormat::kMistral}) {
    EXPECT_EQ(*CallGrammar(Fields("false", true), format), "");
  }
}

TEST_F(CallGrammarTest, TaggedCallsAreHeldAndTextIsFree) {
  Hold(Fields("true", true), ToolFormat::kTagged);
  ExpectWhole("");
  ExpectWhole("Any {\"text\"} with < and <tool_cal> and <tools>,\n\né.\n");
  const std::string call =
      "<tool_call>\n{\"name\": \"f\", \"arguments\": {\"x\": 7}}\n</tool_call>";
  ExpectWhole(call);
  ExpectWhole(absl::StrCat("I call it. ", call, "\n", call, " Done."));
  ExpectWhole("<tool_call>{\"name\": \"g\", \"arguments\": {}}</tool_call>");
  EXPECT_FALSE(Follow("<tool_call>").whole);
  ExpectCut("a<tool_call>\n{\"name\": \"", "h\"");
  ExpectCut("<tool_call>{\"name\": \"f\", \"arguments\": {\"x\": ", "2}}");
  ExpectCut("<tool_call>{\"name\": \"f\", \"arguments\": {\"", "y\": 1}}");
  ExpectCut(call + "<tool_call>", "x");
}

TEST_F(CallGrammarTest, OneCallAtMostMayBeAskedFor) {
  Hold(Fields("false", false), ToolFormat::kTagged);
  const std::string call =
      "<tool_call>{\"name\": \"f\", \"arguments\": {\"y\": [2]}}</tool_call>";
  ExpectWhole("Some text.");
  ExpectWhole("First: " + call);  // a function that is not strict takes all
  ExpectCut(call, "<tool_call>");
  Hold(Fields("false", false), ToolFormat::kObjects);
  ExpectWhole("Some text.");
  ExpectCut("{\"name\": \"g\", \"parameters\": {}}", "; {");
}

TEST_F(CallGrammarTest, ObjectsAreHeldWhereTheyAreTheWholeText) {
  Hold(Fields("true", true), ToolFormat::kObjects);
  ExpectWhole("");
  ExpectWhole("Text, {\"x\": 1}.");
  const std::string call = "{\"name\": \"f\", \"parameters\": {\"x\": 1}}";
  ExpectWhole(call);
  ExpectWhole(call + "; " + call);
  ExpectCut("{\"", "x\": 1}");
  ExpectCut("{\"name\": \"f\", \"parameters\": {\"x\": ", "2}}");
  // The parser would take these for calls.
  ExpectCut("", "[{");
  ExpectCut("Text <function", "=f>");
  ExpectCut("<|tool_call|", ">");
}

constexpr char kAnswer[] = R"(%json {"type": "object", "properties": {"a":
    {"type": "integer"}}, "required": ["a"], "additionalProperties": false,
    "x-guidance": {"whitespace_flexible": false, "item_separator": ", ",
                   "key_separator": ": "}})";

// A model either calls or answers in the form that is asked for.
TEST_F(CallGrammarTest, AnAnswerHasItsFormBesideCalls) {
  const ToolFields fields = Fields("false", true);
  const std::string f = "{\"name\": \"f\", \"arguments\": {\"x\": 2}}";
  Hold(fields, ToolFormat::kTagged, kAnswer);
  ExpectWhole("{\"a\": 12}");
  ExpectWhole("<tool_call>\n" + f + "\n</tool_call>\n<tool_call>" + f +
              "</tool_call>");
  ExpectCut("", "Text");
  ExpectCut("{\"", "b\": 1}");
  EXPECT_FALSE(Follow("").whole);
  Hold(fields, ToolFormat::kTaggedFunction, kAnswer);
  ExpectWhole("{\"a\": 12}");
  ExpectWhole("<tool_call>\n<function=f>\n</function>\n</tool_call>");
  Hold(fields, ToolFormat::kObjects, kAnswer);
  ExpectWhole("{\"a\": 12}");
  ExpectWhole("{\"name\": \"f\", \"parameters\": {\"x\": 2}}");
  ExpectCut("{\"", "b\": 1}");
  Hold(fields, ToolFormat::kFunction, kAnswer);
  ExpectWhole("{\"a\": 12}");
  ExpectWhole("<function=f>{\"x\": 2}</function>");
  ExpectCut("<", "b>");
  Hold(fields, ToolFormat::kRecipients, kAnswer);
  ExpectWhole("all\n{\"a\": 12}");
  ExpectWhole("f\n{\"x\": 2}\n>>>g\n{}");
  ExpectCut("", "h\n");
  ExpectCut("all\n", "Text");
  Hold(fields, ToolFormat::kMistral, kAnswer);
  ExpectWhole("{\"a\": 12}");
  ExpectWhole("[" + f + ", " + f + "]");
  Hold(Fields("true", false), ToolFormat::kTagged, kAnswer);
  ExpectCut("<tool_call>{\"name\": \"f\", \"arguments\": {\"x\": ", "2}}");
  ExpectCut("<tool_call>{\"name\": \"g\", \"arguments\": {}}</tool_call>",
            "<tool_call>");
}

// Qwen3-Coder: texts have no quotes, all other values are JSON.
TEST_F(CallGrammarTest, ParametersOfStrictFunctionsAreHeld) {
  ToolFields fields = Fields("true", true);
  fields.tools[0].parameters = Json::parse(R"({
      "properties": {"s": {"type": "string"}, "e": {"type": "string",
      "enum": ["a \"b\"", "c"]}, "i": {"$ref": "#/$defs/A"},
      "o": {"type": "object", "properties": {"k": {"type": "integer"}},
            "additionalProperties": false},
      "n": {"anyOf": [{"type": "string"}, {"type": "null"}]}},
      "required": ["s", "i"], "$defs": {"A": {"enum": [1, 7]}}})");
  Hold(fields, ToolFormat::kTaggedFunction);
  const std::string begin =
      "I call.\n<tool_call>\n<function=f>\n<parameter=s>\n";
  const std::string end = "</function>\n</tool_call>";
  const std::string i = "<parameter=i>\n7\n</parameter>\n";
  ExpectWhole(begin + "two\n<lines>\n</parameter>\n" + i + end);
  ExpectWhole(begin + "\n</parameter>\n<parameter=e>\na \"b\"\n</parameter>\n" +
              i + "<parameter=o>\n{\"k\": 1}\n</parameter>\n" +
              "<parameter=n>\n\"x\"\n</parameter>\n" + end + "\n" + begin +
              "x\n</parameter>\n" + i + end);
  ExpectCut("<tool_call>\n<function=", "h>");
  ExpectCut("<tool_call>\n<function=f>\n<parameter=", "e>");
  ExpectCut(begin + "x\n</parameter>\n<parameter=i>\n", "2");
  ExpectCut(begin + "x\n</parameter>\n<parameter=e>\n", "b");
  ExpectCut(begin + "x\n</parameter>\n" + i + "<", "tool_call>");
  // The parser would take it for a call.
  ExpectCut("<function", "=f>");
  // What is not strict is free.
  ExpectWhole(
      "<tool_call>\n<function=g>\n<parameter=z>\n1</function>\n"
      "</tool_call>");
  fields.tools[0].parameters["properties"]["s"]["pattern"] = "x";
  EXPECT_EQ(CallGrammar(fields, ToolFormat::kTaggedFunction).status().message(),
            "tools[0].function.strict is true, needs a tool_choice that is "
            "required or names a function: this model writes texts without "
            "quotes, and 'pattern' of parameter 's' holds texts in quotes "
            "only");
}

TEST_F(CallGrammarTest, SomeFormatsCannotBeHeld) {
  EXPECT_EQ(CallGrammar(Fields("true", true), ToolFormat::kMistral)
                .status()
                .message(),
            "tools[0].function.strict is true, needs a tool_choice that is "
            "required or names a function: this model begins a call with a "
            "token that is no text");
}

}  // namespace
}  // namespace attend
