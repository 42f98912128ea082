#ifndef ATTEND_ENGINE_TOKENIZER_HF_STREAM_H_
#define ATTEND_ENGINE_TOKENIZER_HF_STREAM_H_

#include <string>
#include <vector>

#include "engine/tokenizer/hf_tokenizer.h"

namespace attend {

// Decodes for a tokenizer.json token by token, by its DecoderRules: what a
// token costs does not grow with the text. Borrows the tokenizer.
class HfStream final : public StreamDecoder {
 public:
  explicit HfStream(const HfTokenizer& tokenizer) : tokenizer_(tokenizer) {}

  std::string Append(int id) override;
  std::string Flush() override;

 private:
  // Moves characters from bytes_ to text_; at the end all that is left.
  void MoveCharacters(bool at_end);
  // The same of a run of bytes, which stands or falls as a whole.
  void MoveByteRun();
  // Takes off text_ what later text cannot change.
  std::string Settled(bool at_end);

  const HfTokenizer& tokenizer_;
  bool first_ = true;     // no token with text has come
  int stripped_ = 0;      // strings taken off the start of the text
  std::string bytes_;     // may not be whole characters yet
  std::string text_;      // may yet lose a space
  std::vector<int> ids_;  // all, if nothing is known before the last one is
};

}  // namespace attend

#endif  // ATTEND_ENGINE_TOKENIZER_HF_STREAM_H_
