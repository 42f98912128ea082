#ifndef ATTEND_ENGINE_TOKENIZER_HF_HF_STREAM_H_
#define ATTEND_ENGINE_TOKENIZER_HF_HF_STREAM_H_

#include <string>
#include <vector>

#include "engine/tokenizer/hf/hf_tokenizer.h"

namespace attend {

// Decodes token by token, by the DecoderRules of a tokenizer.json. Unless the
// rules are kWhole, the time for a token does not grow with the text, and ids
// before the stream take next to no time.
class HfStream final : public StreamDecoder {
 public:
  // `tokenizer` must outlive the stream.
  explicit HfStream(const HfTokenizer& tokenizer) : tokenizer_(tokenizer) {}

  // To be called first: `ids` come before the stream, see
  // Tokenizer::NewStream().
  void Pass(absl::Span<const int> ids);
  std::string Append(int id) override;
  std::string Flush() override;

 private:
  // The text of ids_, which come after passed_ids_.
  std::string WholeText();
  // The index of the first of `ids` on which later text may depend.
  size_t TailBegin(absl::Span<const int> ids) const;
  // Moves whole characters from bytes_ to text_; at the end everything.
  void MoveCharacters(bool at_end);
  // The same for a run of bytes, whose validity is known only at its end.
  void MoveByteRun();
  // Removes the text that later ids cannot change from text_, and returns it.
  std::string Settled(bool at_end);

  const HfTokenizer& tokenizer_;
  bool first_ = true;        // no token with text has come
  int stripped_ = 0;         // strings removed from the start of the text
  std::string bytes_;        // may end within a character
  std::string text_;         // its end may still change
  size_t passed_bytes_ = 0;  // bytes at the start of bytes_ of earlier ids
  // kWhole only: all ids of the stream, and all ids before the stream.
  std::vector<int> ids_;
  std::vector<int> passed_ids_;
};

}  // namespace attend

#endif  // ATTEND_ENGINE_TOKENIZER_HF_HF_STREAM_H_
