#ifndef ATTEND_ENGINE_GRAMMAR_COMPILED_GRAMMAR_H_
#define ATTEND_ENGINE_GRAMMAR_COMPILED_GRAMMAR_H_

#include <atomic>
#include <cstddef>
#include <memory>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "engine/api/constraint.h"
#include "engine/tokenizer/rust/hf_grammar.h"
#include "engine/tokenizer/text/tokenizer.h"

namespace attend {

// The texts of a vocabulary, made ready for masks. Immutable.
class TokenTexts {
 public:
  // `tokenizer` must outlive the texts; ids from its own target vocabulary up
  // to `vocab` have no text.
  static absl::StatusOr<std::shared_ptr<const TokenTexts>> Create(
      const Tokenizer& tokenizer, int vocab);
  ~TokenTexts() { hf_token_texts_free(handle_); }
  TokenTexts(const TokenTexts&) = delete;

  bool HasText(int id) const { return !tokenizer_.TokenText(id).empty(); }
  const HfTokenTexts* handle() const { return handle_; }

 private:
  TokenTexts(const Tokenizer& tokenizer, HfTokenTexts* handle)
      : tokenizer_(tokenizer), handle_(handle) {}

  const Tokenizer& tokenizer_;
  HfTokenTexts* const handle_;
};

// A grammar that is compiled for a vocabulary. Its states share memory that
// they fill, so that later texts find it filled.
class CompiledGrammar final
    : public Constraint,
      public std::enable_shared_from_this<CompiledGrammar> {
 public:
  struct Source {
    HfGrammarKind kind;
    absl::string_view text;
    bool spaced;   // a text may begin with one more space
    size_t bytes;  // memory that the compiled grammar initially takes
  };
  // INVALID_ARGUMENT describes the error.
  static absl::StatusOr<std::shared_ptr<const CompiledGrammar>> Create(
      std::shared_ptr<const TokenTexts> texts, const Source& source);
  ~CompiledGrammar() override { hf_matcher_free(begin_); }
  CompiledGrammar(const CompiledGrammar&) = delete;

  std::unique_ptr<ConstraintState> Begin() const override;

  // The bytes that it takes now, about.
  size_t bytes() const;
  // Returns true if a state has failed: the shared state may then be invalid.
  bool failed() const { return failed_; }

  // For its states.
  void Fail() const { failed_ = true; }
  const TokenTexts& texts() const { return *texts_; }

 private:
  CompiledGrammar(std::shared_ptr<const TokenTexts> texts, HfMatcher* begin,
                  size_t bytes)
      : texts_(std::move(texts)), begin_(begin), bytes_(bytes) {}

  const std::shared_ptr<const TokenTexts> texts_;
  HfMatcher* const begin_;
  const size_t bytes_;
  mutable std::atomic<bool> failed_{false};
};

}  // namespace attend

#endif  // ATTEND_ENGINE_GRAMMAR_COMPILED_GRAMMAR_H_
