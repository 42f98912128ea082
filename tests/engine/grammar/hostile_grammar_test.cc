// Grammars that would take more memory or time than there is.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "engine/grammar/grammar_compiler.h"
#include "tests/engine/grammar/piece_tokenizer.h"
#include "tests/support/sanitized.h"

namespace attend {
namespace {

std::string Repeated(const std::string& text, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += text;
  return all;
}

// A rule of each of `count` numbers, made by make(i).
template <class Make>
std::string Rules(int count, Make make) {
  std::string rules;
  for (int i = 1; i <= count; ++i) absl::StrAppend(&rules, make(i), "\n");
  return rules;
}

std::vector<Grammar> HostileGrammars() {
  constexpr GrammarKind kJson = GrammarKind::kJsonSchema;
  constexpr GrammarKind kRegex = GrammarKind::kRegex;
  constexpr GrammarKind kLark = GrammarKind::kLark;
  const auto doubled = [](const char* rule) {
    return [rule](int i) {
      return absl::StrCat(rule, i, ": ", rule, i - 1, " ", rule, i - 1);
    };
  };
  std::string patterns;
  for (int i = 5; i < 40; ++i) {
    absl::StrAppend(&patterns, i == 5 ? "" : ",",
                    R"({"type": "string", "pattern": "(a|b)*a(a|b){)", i,
                    R"(}"})");
  }
  std::string properties;
  for (int i = 0; i < 3000; ++i) {
    absl::StrAppend(&properties, i == 0 ? "" : ",", "\"p", i,
                    R"(": {"type": "string"})");
  }
  return {
      {kJson, R"({"type": "array", "items": {}, "minItems": 1000000000})"},
      {kJson, absl::StrCat(R"({"allOf": [)", patterns, "]}")},
      {kJson,
       R"({"allOf": [{"type": "integer", "multipleOf": 9973},
                     {"type": "integer", "multipleOf": 9967},
                     {"type": "integer", "multipleOf": 9949}]})"},
      {kJson,
       absl::StrCat(R"({"type": "object", "properties": {)", properties, "}}")},
      {kJson, Repeated("{\"items\":", 25000) + "{}" + Repeated("}", 25000)},
      {kJson, Repeated("[", 200000)},
      {kRegex, Repeated("(", 100000) + "a" + Repeated(")", 100000)},
      {kRegex, Repeated("(a?", 200) + Repeated("){0,99}", 200)},
      {kLark, "start: A4000\nA0: \"a\"\n" + Rules(4000, doubled("A"))},
      {kLark,
       "start: " + Repeated("(", 80000) + "\"a\"" + Repeated(")", 80000)},
      {kLark,
       "start: A\nA: /(a|b)*a(a|b){20}/ & /(a|b)*b(a|b){21}/ & "
       "~/(a|b)*a(a|b){23}/\n"},
  };
}

// A hostile grammar ends in an error. The time for it is limited in CPU time,
// which a busy machine gives slowly.
TEST(HostileGrammarTest, EndsInAnErrorSoon) {
  std::vector<std::string> texts = {""};
  for (int byte = 0; byte < 256; ++byte) {
    texts.push_back(std::string(1, static_cast<char>(byte)));
  }
  const PieceTokenizer tokenizer(texts);
  const GrammarCompiler compiler(tokenizer, 257, /*begins_text=*/false);
  std::vector<Grammar> grammars = HostileGrammars();
  // Sanitizers make limits of memory and time wide.
  if (kSanitized) grammars.erase(grammars.begin(), grammars.begin() + 4);
  for (const Grammar& grammar : grammars) {
    const absl::Time start = absl::Now();
    const absl::Status status = compiler.Compile(grammar).status();
    const std::string name = grammar.text.substr(0, 60);
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << name << ": " << status;
    EXPECT_LT(status.message().size(), 600u) << name;
    EXPECT_LT(absl::Now() - start, absl::Seconds(60)) << name;
  }
}

// An ambiguous grammar is work for each token, and has a limit, too.
TEST(HostileGrammarTest, LargeTextsOfSmallGrammars) {
  std::vector<std::string> texts = {""};
  for (int byte = 0; byte < 256; ++byte) {
    texts.push_back(std::string(1, static_cast<char>(byte)));
  }
  const PieceTokenizer tokenizer(texts);
  const GrammarCompiler compiler(tokenizer, 257, /*begins_text=*/false);
  const char* const grammars[] = {
      "start: e\ne: e e | e e e | \"a\" | \n",
      "start: e\ne: \"a\" e \"a\" | \"a\" e | e \"a\" | \n",
      "start: a*\na: b* \"a\"?\nb: \"a\"* | \"aa\"*\n",
  };
  for (const char* grammar : grammars) {
    const auto constraint = compiler.Compile({GrammarKind::kLark, grammar});
    ASSERT_TRUE(constraint.ok()) << constraint.status();
    const auto state = (*constraint)->Begin();
    std::vector<uint32_t> mask(MaskWords(257));
    absl::Duration longest;
    absl::Status status;
    for (int i = 0; i < 400 && status.ok(); ++i) {
      const absl::Time start = absl::Now();
      status = state->Append(1 + 'a');
      if (status.ok() && i % 20 == 0) state->Ending(1000);
      if (status.ok()) status = state->Mask(absl::MakeSpan(mask)).status();
      longest = std::max(longest, absl::Now() - start);
    }
    EXPECT_TRUE(status.ok() || absl::IsInvalidArgument(status)) << status;
    EXPECT_LT(longest, absl::Seconds(30)) << grammar;
  }
}

}  // namespace
}  // namespace attend
