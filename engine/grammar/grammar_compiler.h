#ifndef ATTEND_ENGINE_GRAMMAR_GRAMMAR_COMPILER_H_
#define ATTEND_ENGINE_GRAMMAR_GRAMMAR_COMPILER_H_

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "engine/api/constraint.h"
#include "engine/api/thought.h"
#include "engine/grammar/grammar_cache.h"
#include "engine/tensor/mutex.h"
#include "engine/tokenizer/text/tokenizer.h"

namespace attend {

class TokenTexts;

enum class GrammarKind {
  // JSON that a JSON schema allows, written with one space after ',' and ':'
  // and no others, so that no model writes spaces for ever.
  kJsonSchema,
  kRegex,    // a text that matches as a whole
  kLark,     // llguidance's variant of Lark
  kChoices,  // one of the texts of a JSON list
};

struct Grammar {
  GrammarKind kind = GrammarKind::kJsonSchema;
  std::string text;
};

// That the text is one of `texts`.
Grammar OneOf(const std::vector<std::string>& texts);

// Bytes of a grammar.
inline constexpr size_t kMaxGrammarBytes = 256 << 10;

// Makes constraints of grammars, for the vocabulary of one model, and keeps
// those that were used last. A grammar is tried in a process of its own first
// (see Sandbox), where the system limits its memory and time: what passes there
// is compiled here. Thread-safe.
class GrammarCompiler {
 public:
  // The target side of `tokenizer`, which must outlive the compiler and all
  // constraints, has `vocab` ids at most. `begins_text`: results begin a text,
  // as those of a model with an encoder do, and do not continue one.
  GrammarCompiler(const Tokenizer& tokenizer, int vocab, bool begins_text);
  ~GrammarCompiler();

  // INVALID_ARGUMENT says what is wrong with the grammar, or which limit it
  // passes. CANCELLED once `ended`, which is asked again and again.
  // UNAVAILABLE: see Sandbox::Run().
  absl::StatusOr<std::shared_ptr<const Constraint>> Compile(
      const Grammar& grammar,
      absl::FunctionRef<bool()> ended = [] { return false; }) const;

  // The constraint of a text that may begin with a thought: `constraint` holds
  // what follows the thought. It takes memory for a mask.
  std::shared_ptr<const Constraint> SkipThought(
      std::shared_ptr<const Constraint> constraint,
      const Thought& thought) const;

 private:
  // The texts of the vocabulary for masks; made when they are first needed,
  // because most servers never need their memory.
  absl::StatusOr<std::shared_ptr<const TokenTexts>> Texts() const;

  const Tokenizer& tokenizer_;
  const int vocab_;
  const bool spaced_;  // a text loses a space that it begins with
  mutable Mutex mutex_;
  mutable std::shared_ptr<const TokenTexts> texts_ ABSL_GUARDED_BY(mutex_);
  mutable GrammarCache cache_;
};

}  // namespace attend

#endif  // ATTEND_ENGINE_GRAMMAR_GRAMMAR_COMPILER_H_
