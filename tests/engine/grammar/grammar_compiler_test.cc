#include "engine/grammar/grammar_compiler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <iterator>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "engine/tokenizer/sandbox/sandbox.h"
#include "tests/engine/grammar/piece_tokenizer.h"

namespace attend {
namespace {

using ::testing::HasSubstr;

// So that this program may be started to try grammars. The C library gives its
// constructors the arguments of main().
__attribute__((constructor)) void MayTry(int argc, char** argv) {
  Sandbox::RunIfStartedForIt(argc, argv);
  Sandbox::Shared();
}

// All bytes, then tokens of several bytes; some twice, some special, one that
// ends within a character.
std::vector<std::string> Texts() {
  std::vector<std::string> texts = {"", ""};
  for (int byte = 0; byte < 256; ++byte) {
    texts.push_back(std::string(1, static_cast<char>(byte)));
  }
  for (const char* text :
       {"ab",   "abc",     "bc",       "dd",     "d",  "",     "{\"",
        "\": ", "\"a\": ", "1}",       ", \"",   "tr", "true", "é",
        "\xc3", "\xa9x",   "yes",      "yes",    "no", " yes", " ",
        "  ",   " {",      "1, \"b\"", "false}", "}"}) {
    texts.push_back(text);
  }
  return texts;
}

const PieceTokenizer& Pieces() {
  static const auto& tokenizer = *new PieceTokenizer(Texts());
  return tokenizer;
}

constexpr int kVocab = 300;  // more than the tokenizer has

struct Next {
  std::set<int> ids;
  bool can_end = false;
};

Next NextOf(ConstraintState& state) {
  std::vector<uint32_t> mask(MaskWords(kVocab), ~0u);
  const auto can_end = state.Mask(absl::MakeSpan(mask));
  EXPECT_TRUE(can_end.ok()) << can_end.status();
  Next next;
  next.can_end = can_end.ok() && *can_end;
  for (int id = 0; id < 32 * MaskWords(kVocab); ++id) {
    if (mask[id / 32] >> (id % 32) & 1) next.ids.insert(id);
  }
  return next;
}

// What may follow `text` if a text is one of `language`: each token is tried.
Next NaiveNext(const std::set<std::string>& language, const std::string& text) {
  Next next;
  next.can_end = language.contains(text);
  for (int id = 0; id < Pieces().vocab_size(Side::kTarget); ++id) {
    const absl::string_view more = Pieces().TokenText(id);
    const std::string longer = absl::StrCat(text, more);
    const auto first = language.lower_bound(longer);
    if (!more.empty() && first != language.end() &&
        absl::StartsWith(*first, longer)) {
      next.ids.insert(id);
    }
  }
  return next;
}

// Follows many ways to write the texts, and compares the masks.
void ExpectLanguage(const GrammarCompiler& compiler, const Grammar& grammar,
                    const std::set<std::string>& language) {
  const auto constraint = compiler.Compile(grammar);
  ASSERT_TRUE(constraint.ok()) << grammar.text << constraint.status();
  std::vector<std::pair<std::string, std::unique_ptr<ConstraintState>>> left;
  left.emplace_back("", (*constraint)->Begin());
  int seen = 0;
  while (!left.empty() && ++seen < 3000) {
    auto [text, state] = std::move(left.back());
    left.pop_back();
    const Next next = NextOf(*state);
    const Next naive = NaiveNext(language, text);
    ASSERT_EQ(next.ids, naive.ids) << grammar.text << " after '" << text << "'";
    ASSERT_EQ(next.can_end, naive.can_end) << grammar.text << " '" << text;
    if (text.size() > 20) continue;
    for (const int id : next.ids) {
      left.emplace_back(absl::StrCat(text, Pieces().TokenText(id)),
                        state->Copy());
      ASSERT_TRUE(left.back().second->Append(id).ok());
    }
  }
  EXPECT_GT(seen, 3);
}

class GrammarCompilerTest : public ::testing::Test {
 protected:
  absl::Status Error(GrammarKind kind, const std::string& text) {
    return compiler_.Compile({kind, text}).status();
  }
  const GrammarCompiler compiler_{Pieces(), kVocab, /*begins_text=*/false};
};

TEST_F(GrammarCompilerTest, MasksAreThoseOfTryingEachToken) {
  std::set<std::string> words;
  for (const char* begin : {"ab", "a"}) {
    for (const char* middle : {"", "c", "bc"}) {
      for (const char* end : {"d", "dd"}) {
        words.insert(absl::StrCat(begin, middle, end));
      }
    }
  }
  ExpectLanguage(compiler_, {GrammarKind::kRegex, "(ab|a)(c|bc)?d{1,2}"},
                 words);
  ExpectLanguage(compiler_, {GrammarKind::kRegex, "é(x|éx)?"},
                 {"é", "éx", "ééx"});
  ExpectLanguage(compiler_, OneOf({"yes", "yesyes", "no", " \"\n{é"}),
                 {"yes", "yesyes", "no", " \"\n{é"});
  ExpectLanguage(compiler_,
                 {GrammarKind::kLark,
                  "start: pair \"d\"*\npair: \"a\" pair \"b\" | \"ab\"\n"},
                 [] {
                   std::set<std::string> texts;
                   for (int deep = 1; deep < 40; ++deep) {
                     for (int ends = 0; ends < 40; ++ends) {
                       texts.insert(std::string(deep, 'a') +
                                    std::string(deep, 'b') +
                                    std::string(ends, 'd'));
                     }
                   }
                   return texts;
                 }());
}

// Follows an ending from each of some states on many ways through a grammar.
void ExpectEndings(const GrammarCompiler& compiler, const Grammar& grammar) {
  const auto constraint = compiler.Compile(grammar);
  ASSERT_TRUE(constraint.ok()) << grammar.text << constraint.status();
  for (unsigned way = 0; way < 30; ++way) {
    auto state = (*constraint)->Begin();
    for (unsigned step = 0; step < 30; ++step) {
      const Next next = NextOf(*state);
      const auto ending = state->Ending(200);
      ASSERT_TRUE(ending.has_value()) << grammar.text << way << " " << step;
      EXPECT_EQ(ending->empty(), next.can_end) << grammar.text;
      if (ending->size() > 1) {
        EXPECT_EQ(state->Ending(ending->size() - 1), std::nullopt);
      }
      auto end = state->Copy();
      for (const int id : *ending) {
        ASSERT_TRUE(NextOf(*end).ids.contains(id)) << grammar.text;
        ASSERT_TRUE(end->Append(id).ok());
      }
      ASSERT_TRUE(NextOf(*end).can_end) << grammar.text;
      if (next.ids.empty()) break;
      const unsigned hash = (way * 31 + step) * 2654435761u >> 8;
      ASSERT_TRUE(
          state->Append(*std::next(next.ids.begin(), hash % next.ids.size()))
              .ok());
    }
  }
}

TEST_F(GrammarCompilerTest, EndingsLeadToWholeTexts) {
  for (const char* schema :
       {R"({})", R"({"type": "number", "minimum": 17.5, "maximum": 1e6})",
        R"({"type": "string", "minLength": 4})",
        R"({"type": "string", "format": "date-time"})",
        R"({"enum": ["red", "green", {"a": [null, "é"]}]})",
        R"({"type": "array", "minItems": 3, "items": {"type": "boolean"}})",
        R"({"type": "object", "additionalProperties": {"type": "integer"}})",
        R"({"properties": {"a": {"const": "b"}, "b": {"pattern": "^[x-z]+$"}},
            "required": ["b"], "type": "object"})",
        R"({"$defs": {"t": {"type": "object", "required": ["next", "v"],
              "properties": {"v": {"type": "integer"}, "next": {"anyOf": [
                {"$ref": "#/$defs/t"}, {"type": "null"}]}}}},
            "$ref": "#/$defs/t"})"}) {
    ExpectEndings(compiler_, {GrammarKind::kJsonSchema, schema});
  }
  ExpectEndings(compiler_, {GrammarKind::kRegex, "(ab|a)(c|bc)?d{1,20}é*"});
  ExpectEndings(compiler_, OneOf({"yes", "yesyes", "no", " \"\n{é"}));
  ExpectEndings(compiler_,
                {GrammarKind::kLark, "start: \"(\" start \")\" | /[0-9]+/\n"});
}

TEST_F(GrammarCompilerTest, AnEndingNeedNotBeFound) {
  const auto far = compiler_.Compile({GrammarKind::kRegex, "[a-z]{3000}"});
  ASSERT_TRUE(far.ok()) << far.status();
  auto state = (*far)->Begin();
  EXPECT_EQ(state->Ending(100), std::nullopt);
  EXPECT_EQ(state->Ending(0), std::nullopt);
  EXPECT_EQ(state->Ending(SIZE_MAX), std::nullopt);
  EXPECT_TRUE(state->Append(2 + 'x').ok());  // the state is as it was
  // No token has the second byte.
  const PieceTokenizer no_close({"", "a", "ab"});
  const auto cut = GrammarCompiler(no_close, 3, /*begins_text=*/false)
                       .Compile({GrammarKind::kRegex, "a(bc|ba)"});
  ASSERT_TRUE(cut.ok()) << cut.status();
  EXPECT_EQ((*cut)->Begin()->Ending(9), (std::vector<int>{2, 1}));
  const PieceTokenizer none({"", "a", "ab"});
  const auto lost = GrammarCompiler(none, 3, /*begins_text=*/false)
                        .Compile({GrammarKind::kRegex, "abc"});
  ASSERT_TRUE(lost.ok()) << lost.status();
  EXPECT_EQ((*lost)->Begin()->Ending(9), std::nullopt);
}

TEST_F(GrammarCompilerTest, JsonHasOneSpaceAfterEachMark) {
  const char schema[] = R"({"type": "object", "properties": {
      "a": {"enum": [1, true, "é"]}, "b": {"type": "boolean"}},
      "required": ["a"], "additionalProperties": false})";
  std::set<std::string> texts;
  for (const char* a : {"1", "true", "\"é\""}) {
    texts.insert(absl::StrCat("{\"a\": ", a, "}"));
    for (const char* b : {"true", "false"}) {
      texts.insert(absl::StrCat("{\"a\": ", a, ", \"b\": ", b, "}"));
    }
  }
  ExpectLanguage(compiler_, {GrammarKind::kJsonSchema, schema}, texts);
}

TEST_F(GrammarCompilerTest, ATextMayBeginWithTheSpaceThatItLoses) {
  PieceTokenizer tokenizer(Texts());
  tokenizer.loses_space = true;
  const GrammarCompiler begins(tokenizer, kVocab, /*begins_text=*/true);
  ExpectLanguage(begins, OneOf({"yes", "no"}), {"yes", "no", " yes", " no"});
  ExpectLanguage(begins, {GrammarKind::kJsonSchema, R"({"enum": [1]})"},
                 {"1", " 1"});
  const GrammarCompiler continues(tokenizer, kVocab, /*begins_text=*/false);
  ExpectLanguage(continues, OneOf({"yes", "no"}), {"yes", "no"});
}

TEST_F(GrammarCompilerTest, TokensWithoutTextChangeNothing) {
  const auto constraint = *compiler_.Compile(OneOf({"yes"}));
  const auto state = constraint->Begin();
  EXPECT_TRUE(state->Append(0).ok());
  EXPECT_TRUE(state->Append(kVocab - 1).ok());
  EXPECT_EQ(NextOf(*state).ids, NaiveNext({"yes"}, "").ids);
  EXPECT_TRUE(absl::IsInvalidArgument(state->Append(2 + 'n')));
}

TEST_F(GrammarCompilerTest, WhatIsNoGrammarIsExplained) {
  const struct {
    GrammarKind kind;
    std::string text;
    const char* says;
  } cases[] = {
      {GrammarKind::kJsonSchema, "{", "EOF"},
      {GrammarKind::kJsonSchema, "3", "an object or true"},
      {GrammarKind::kJsonSchema, R"({"type": "car"})", "car"},
      {GrammarKind::kJsonSchema, R"({"type": "array", "uniqueItems": true})",
       "uniqueItems"},
      {GrammarKind::kJsonSchema, "false", "an object or true"},
      {GrammarKind::kRegex, "(a", "unclosed group"},
      {GrammarKind::kRegex, "a\\1", "backreference"},
      {GrammarKind::kLark, "start: b", "b"},
      {GrammarKind::kLark, "", "start"},
      {GrammarKind::kLark, "start: \"a\" <[0]>", "a grammar is of texts"},
      {GrammarKind::kLark, "start: <[^7]>", "a grammar is of texts"},
      {GrammarKind::kLark, "start: <[*]>", "a grammar is of texts"},
      {GrammarKind::kLark, "start: <end>", "a grammar is of texts"},
      {GrammarKind::kRegex, std::string("\xff"), "not UTF-8 at byte 0"},
      {GrammarKind::kRegex, std::string(kMaxGrammarBytes + 1, 'a'),
       "has 262145 bytes, limit is 262144"},
      {GrammarKind::kRegex, "[^\\s\\S]", ""},
  };
  for (const auto& c : cases) {
    const absl::Status status = Error(c.kind, c.text);
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
    EXPECT_THAT(status.message(), HasSubstr(c.says)) << c.text.substr(0, 99);
    EXPECT_LT(status.message().size(), 600u);
  }
}

TEST_F(GrammarCompilerTest, AVocabularyMayNotHaveTheText) {
  const PieceTokenizer small({"a", "b"});
  const GrammarCompiler compiler(small, 2, /*begins_text=*/false);
  EXPECT_TRUE(compiler.Compile(OneOf({"ab"})).ok());
  EXPECT_THAT(compiler.Compile(OneOf({"x"})).status().message(),
              HasSubstr("no token of the model begins a text"));
  PieceTokenizer whole({"a", "b"});
  whole.joins = false;
  EXPECT_THAT(
      GrammarCompiler(whole, 2, false).Compile(OneOf({"a"})).status().message(),
      HasSubstr("no texts of single tokens"));
}

TEST_F(GrammarCompilerTest, KeepsTheGrammarsUsedLast) {
  const auto number = [&](int n) {
    return *compiler_.Compile(
        {GrammarKind::kRegex, absl::StrCat("a{", n, "}")});
  };
  std::weak_ptr<const Constraint> first = number(1);
  std::weak_ptr<const Constraint> second = number(2);
  EXPECT_EQ(number(1), first.lock());
  for (int n = 3; n <= 65; ++n) number(n);  // 64 are kept
  EXPECT_NE(first.lock(), nullptr);
  EXPECT_EQ(second.lock(), nullptr);
  EXPECT_NE(*compiler_.Compile({GrammarKind::kLark, "start: \"a\""}),
            number(1));
}

TEST_F(GrammarCompilerTest, ACancelledCallEndsTheTrial) {
  EXPECT_TRUE(absl::IsCancelled(
      compiler_.Compile({GrammarKind::kRegex, "abc"}, [] { return true; })
          .status()));
}

}  // namespace
}  // namespace attend
