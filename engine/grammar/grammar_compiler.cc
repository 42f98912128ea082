#include "engine/grammar/grammar_compiler.h"

#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "engine/grammar/after_thought.h"
#include "engine/grammar/compiled_grammar.h"
#include "engine/tensor/status_macros.h"
#include "engine/tokenizer/sandbox/sandbox.h"
#include "engine/tokenizer/text/utf8.h"

namespace attend {
namespace {

HfGrammarKind ToHf(GrammarKind kind) {
  switch (kind) {
    case GrammarKind::kJsonSchema:
      return kHfJsonSchema;
    case GrammarKind::kRegex:
      return kHfRegex;
    case GrammarKind::kLark:
      return kHfLark;
    case GrammarKind::kChoices:
      return kHfChoices;
  }
  return kHfJsonSchema;
}

absl::Status CheckText(const Grammar& grammar) {
  if (grammar.text.size() > kMaxGrammarBytes) {
    return absl::InvalidArgumentError(
        absl::StrCat("the grammar has ", grammar.text.size(),
                     " bytes, limit is ", kMaxGrammarBytes));
  }
  const size_t invalid = FindInvalidUtf8(grammar.text);
  if (invalid == absl::string_view::npos) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("the grammar is not UTF-8 at byte ", invalid));
}

// The memory that the compiled grammar takes.
absl::StatusOr<size_t> Try(const Grammar& grammar,
                           absl::FunctionRef<bool()> ended) {
  ASSIGN_OR_RETURN(const std::string bytes,
                   Sandbox::Shared().Run({.task = SandboxTask::kTryGrammar,
                                          .source = grammar.text,
                                          .grammar_kind = ToHf(grammar.kind)},
                                         ended));
  uint64_t number = 0;
  return absl::SimpleAtoi(bytes, &number) ? number : 0;
}

// A vocabulary need not have what a text has to begin with.
absl::Status CheckBeginning(const Constraint& constraint, int vocab) {
  std::vector<uint32_t> mask(MaskWords(vocab));
  ASSIGN_OR_RETURN(const bool can_end,
                   constraint.Begin()->Mask(absl::MakeSpan(mask)));
  const bool none = std::all_of(mask.begin(), mask.end(),
                                [](uint32_t word) { return word == 0; });
  if (!none || can_end) return absl::OkStatus();
  return absl::InvalidArgumentError(
      "no token of the model begins a text that the grammar allows");
}

}  // namespace

Grammar OneOf(const std::vector<std::string>& texts) {
  return {GrammarKind::kChoices,
          nlohmann::json(texts).dump(-1, ' ', false,
                                     nlohmann::json::error_handler_t::replace)};
}

GrammarCompiler::GrammarCompiler(const Tokenizer& tokenizer, int vocab,
                                 bool begins_text)
    : tokenizer_(tokenizer),
      vocab_(vocab),
      spaced_(begins_text && tokenizer.loses_first_space()),
      cache_(GrammarCache::Limits()) {}

GrammarCompiler::~GrammarCompiler() = default;

absl::StatusOr<std::shared_ptr<const TokenTexts>> GrammarCompiler::Texts()
    const {
  if (!tokenizer_.joins_token_texts()) {
    return absl::InvalidArgumentError(
        "the model's tokenizer has no texts of single tokens, which a "
        "constraint needs");
  }
  MutexLock lock(mutex_);
  if (texts_ == nullptr) {
    ASSIGN_OR_RETURN(texts_, TokenTexts::Create(tokenizer_, vocab_));
  }
  return texts_;
}

absl::StatusOr<std::shared_ptr<const Constraint>> GrammarCompiler::Compile(
    const Grammar& grammar, absl::FunctionRef<bool()> ended) const {
  ASSIGN_OR_RETURN(std::shared_ptr<const TokenTexts> texts, Texts());
  std::string key =
      absl::StrCat(static_cast<int>(grammar.kind), ":", grammar.text);
  if (auto known = cache_.Find(key)) return known;
  RETURN_IF_ERROR(CheckText(grammar));
  ASSIGN_OR_RETURN(const size_t bytes, Try(grammar, ended));
  ASSIGN_OR_RETURN(
      std::shared_ptr<const CompiledGrammar> compiled,
      CompiledGrammar::Create(std::move(texts), {.kind = ToHf(grammar.kind),
                                                 .text = grammar.text,
                                                 .spaced = spaced_,
                                                 .bytes = bytes}));
  RETURN_IF_ERROR(CheckBeginning(*compiled, vocab_));
  cache_.Add(std::move(key), compiled);
  return compiled;
}

std::shared_ptr<const Constraint> GrammarCompiler::SkipThought(
    std::shared_ptr<const Constraint> constraint,
    const Thought& thought) const {
  return std::make_shared<const AfterThought>(std::move(constraint), thought,
                                              tokenizer_, vocab_);
}

}  // namespace attend
