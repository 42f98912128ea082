#ifndef ATTEND_ENGINE_TOKENIZER_HF_HF_STREAM_H_
#define ATTEND_ENGINE_TOKENIZER_HF_HF_STREAM_H_

#include <string>
#include <vector>

#include "engine/tokenizer/hf/hf_tokenizer.h"

namespace attend {

// Decodes for a tokenizer.json token by token, by its DecoderRules: what a
// token costs does not grow with the text, and ids that were there before cost
// little more than nothing, where the rules allow it. Borrows the tokenizer.
class HfStream final : public StreamDecoder {
 public:
  explicit HfStream(const HfTokenizer& tokenizer) : tokenizer_(tokenizer) {}

  // Takes `ids` as what has been decoded before.
  void Pass(absl::Span<const int> ids);
  std::string Append(int id) override;
  std::string Flush() override;

 private:
  // Of ids_, which come after passed_.
  std::string WholeText();
  // Where the last of `ids` begin that later text may depend on.
  size_t TailBegin(absl::Span<const int> ids) const;
  // Moves characters from bytes_ to text_; at the end all that is left.
  void MoveCharacters(bool at_end);
  // The same of a run of bytes, which stands or falls as a whole.
  void MoveByteRun();
  // Takes off text_ what later text cannot change.
  std::string Settled(bool at_end);

  const HfTokenizer& tokenizer_;
  bool first_ = true;        // no token with text has come
  int stripped_ = 0;         // strings taken off the start of the text
  std::string bytes_;        // may not be whole characters yet
  std::string text_;         // may yet lose a space
  size_t passed_bytes_ = 0;  // of bytes_: of the ids before
  std::vector<int> ids_;     // all, if nothing is known before the last one is
  std::vector<int> passed_;  // the same of those before
};

}  // namespace attend

#endif  // ATTEND_ENGINE_TOKENIZER_HF_HF_STREAM_H_
