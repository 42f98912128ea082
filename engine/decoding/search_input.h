#ifndef ATTEND_ENGINE_DECODING_SEARCH_INPUT_H_
#define ATTEND_ENGINE_DECODING_SEARCH_INPUT_H_

#include "absl/types/span.h"
#include "engine/api/generation_params.h"
#include "engine/decoding/vocabulary_texts.h"

namespace attend {

// What a search is made from. The parameters must have been validated (see
// ValidateParams); all but token_texts is copied.
struct SearchInput {
  const GenerationParams& params;
  // Decoder tokens that the results continue, at least one, forced prefix
  // included.
  absl::Span<const int> prompt;
  int vocab = 0;  // width of the logits
  // Texts of the target ids. Read for stop strings and constraints only; must
  // outlive the search.
  const VocabularyTexts* token_texts = nullptr;
  // Results have no n-gram of this length that `source` has; 0: they may. The
  // source is that of the encoder; without an encoder it is the prompt.
  int source_ngram_size = 0;
  absl::Span<const int> source = {};
};

}  // namespace attend

#endif  // ATTEND_ENGINE_DECODING_SEARCH_INPUT_H_
