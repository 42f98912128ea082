#ifndef ATTEND_ENGINE_DECODING_STOPPING_H_
#define ATTEND_ENGINE_DECODING_STOPPING_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "engine/api/generation_params.h"
#include "engine/api/output.h"
#include "engine/decoding/search_input.h"

namespace attend {

// The ids that end a sequence: eos_ids, then stop_ids, each once.
std::vector<int> EndIds(const GenerationParams& params);

// Decides whether a token ends the sequence that it continues. Not
// thread-safe; Check() allocates nothing.
class Stopping {
 public:
  explicit Stopping(const SearchInput& input);

  // The reason why `next` ends the sequence `tokens` (prompt, new), or
  // kNone. A stop string counts if it ends inside the text of `next`. It is
  // looked for both in the running text and in the text with the spellings of
  // special tokens in their places. The text of the prompt and the thought are
  // not searched.
  FinishReason Check(absl::Span<const int> tokens, int next);

 private:
  bool IsSpecial(int id) const;
  // The text of `id`, or its spelling if it is special and `spelled`.
  absl::string_view Text(int id, bool spelled) const;
  bool CompletesStopString(absl::Span<const int> new_tokens, int next,
                           bool spelled);
  // The number of bytes of the new text, as Text() has it, that are not the
  // answer; all of them while it is not known.
  size_t ThoughtBytes(absl::Span<const int> new_tokens, int next,
                      bool spelled) const;

  const std::vector<int> end_ids_;
  const std::vector<std::string> stop_strings_;
  const Thought thought_;
  const VocabularyTexts* const token_texts_;  // null: no texts
  const size_t prompt_len_;
  const size_t max_new_tokens_;
  size_t max_before_ = 0;  // bytes before `next` that a match may begin in
  std::string text_;       // scratch of Check(): the end of the running text
};

}  // namespace attend

#endif  // ATTEND_ENGINE_DECODING_STOPPING_H_
