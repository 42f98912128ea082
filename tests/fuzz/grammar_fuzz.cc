// A grammar of any kind, compiled, and texts that its masks allow.
#include <string>
#include <utility>
#include <vector>

#include "engine/grammar/compiled_grammar.h"
#include "engine/grammar/grammar_compiler.h"
#include "engine/tokenizer/text/tokenizer.h"
#include "tests/engine/grammar/piece_tokenizer.h"
#include "tests/fuzz/fuzz.h"

namespace attend {
namespace {

constexpr int kVocab = 300;
constexpr int kSteps = 40;

// All bytes, and some tokens of several.
const PieceTokenizer& Pieces() {
  static const PieceTokenizer& tokenizer = *[] {
    std::vector<std::string> texts = {""};
    for (int byte = 0; byte < 256; ++byte) {
      texts.push_back(std::string(1, static_cast<char>(byte)));
    }
    for (const char* text : {"ab", "{\"", "\": ", ", \"", "true", "é", "\xc3",
                             "aaaa", "12", "  ", "\\u", "null}"}) {
      texts.push_back(text);
    }
    return new PieceTokenizer(texts);
  }();
  return tokenizer;
}

// Coverage is seen in this process only, and limits of memory are libFuzzer's.
// Without it a grammar is tried where the server tries it.
#ifdef ATTEND_LIBFUZZER
absl::StatusOr<std::shared_ptr<const Constraint>> Compile(
    const Grammar& grammar) {
  static const auto& texts = *new std::shared_ptr<const TokenTexts>(
      *TokenTexts::Create(Pieces(), kVocab));
  auto compiled = CompiledGrammar::Create(
      texts,
      {static_cast<HfGrammarKind>(grammar.kind), grammar.text, false, 0});
  if (!compiled.ok()) return compiled.status();
  return *compiled;
}
#else
absl::StatusOr<std::shared_ptr<const Constraint>> Compile(
    const Grammar& grammar) {
  static const auto& compiler =
      *new GrammarCompiler(Pieces(), kVocab, /*begins_text=*/false);
  return compiler.Compile(grammar);
}
#endif

// An ending means what it says: its tokens are allowed, and the text may end
// behind them.
void CheckEnding(const ConstraintState& state) {
  const auto ending = state.Ending(60);
  if (!ending.has_value()) return;
  const auto end = state.Copy();
  std::vector<uint32_t> mask(MaskWords(kVocab));
  auto can_end = end->Mask(absl::MakeSpan(mask));
  for (const int id : *ending) {
    if (!can_end.ok()) return;  // a limit of work
    if (!(mask[id / 32] >> (id % 32) & 1)) std::abort();
    if (!end->Append(id).ok()) return;
    can_end = end->Mask(absl::MakeSpan(mask));
  }
  if (can_end.ok() && !*can_end) std::abort();
}

// An error, or masks that mean what they say: a token that they allow can be
// followed.
absl::Status Follow(const Grammar& grammar, uint32_t random) {
  const auto constraint = Compile(grammar);
  if (!constraint.ok()) return constraint.status();
  const auto state = (*constraint)->Begin();
  std::vector<uint32_t> mask(MaskWords(kVocab));
  for (int step = 0; step < kSteps; ++step) {
    const auto can_end = state->Mask(absl::MakeSpan(mask));
    if (!can_end.ok()) return can_end.status();
    std::vector<int> allowed;
    for (int id = 0; id < 32 * MaskWords(kVocab); ++id) {
      if (mask[id / 32] >> (id % 32) & 1) allowed.push_back(id);
    }
    if (allowed.empty()) break;
    random = random * 1664525 + 1013904223;
    const int id = allowed[(random >> 8) % allowed.size()];
    if (Pieces().TokenText(id).empty()) std::abort();
    if (absl::Status status = state->Append(id); !status.ok()) return status;
    if (step % 8 == 0) CheckEnding(*state);
  }
  return absl::OkStatus();
}

}  // namespace
}  // namespace attend

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const attend::Grammar grammar = {
      static_cast<attend::GrammarKind>(data[0] % 4),
      std::string(attend::View(data + 1, size - 1))};
  attend::Accepted(attend::Follow(grammar, static_cast<uint32_t>(size)), "");
  return 0;
}
