#ifndef ATTEND_ENGINE_TOKENIZER_VOCABULARY_ONLY_H_
#define ATTEND_ENGINE_TOKENIZER_VOCABULARY_ONLY_H_

#include <utility>

#include "engine/tokenizer/spm/vocabulary.h"
#include "engine/tokenizer/text/ids_only.h"

namespace attend {

// The tokenizer of a directory that has the spelling of each token, but nothing
// that cuts a text: ids have pieces, and functions that need text return
// INVALID_ARGUMENT.
class VocabularyOnly final : public IdsOnly {
 public:
  VocabularyOnly(Vocabulary source, Vocabulary target)
      : source_(std::move(source)), target_(std::move(target)) {}

  int vocab_size(Side side) const override { return Of(side).size(); }
  absl::string_view Piece(int id, Side side) const override {
    return id < Of(side).size() ? Of(side).Token(id) : absl::string_view();
  }
  int TokenId(absl::string_view piece, Side side) const override {
    return Of(side).Find(piece);
  }

 private:
  const Vocabulary& Of(Side side) const {
    return side == Side::kSource ? source_ : target_;
  }

  const Vocabulary source_, target_;
};

}  // namespace attend

#endif  // ATTEND_ENGINE_TOKENIZER_VOCABULARY_ONLY_H_
