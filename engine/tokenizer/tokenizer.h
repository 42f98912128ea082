#ifndef ATTEND_ENGINE_TOKENIZER_TOKENIZER_H_
#define ATTEND_ENGINE_TOKENIZER_TOKENIZER_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace attend {

enum class Side { kSource, kTarget };

// Text to ids and back. Const and thread-safe after load.
class Tokenizer {
 public:
  virtual ~Tokenizer() = default;

  // INVALID_ARGUMENT if `text` is not UTF-8 (names the byte offset).
  virtual absl::StatusOr<std::vector<int>> Encode(absl::string_view text,
                                                  Side side,
                                                  bool add_special) const = 0;
  // Text of ids; special tokens are left out unless `keep_special`.
  // INVALID_ARGUMENT for an id outside of the vocabulary.
  virtual absl::StatusOr<std::string> Decode(absl::Span<const int> ids,
                                             Side side,
                                             bool keep_special) const = 0;
  virtual int vocab_size(Side side) const = 0;
  // The vocabulary's spelling of an id in [0, vocab_size).
  virtual absl::string_view Piece(int id, Side side) const = 0;
  virtual bool IsSpecial(int id, Side side) const = 0;
  // The bytes that a target id adds to running text (a word mark is a space,
  // a byte token its byte, a special token nothing).
  virtual absl::string_view TokenText(int id) const = 0;
  // Special tokens at the end of an encoded source (Marian: 1, the end of
  // sequence): what truncation keeps.
  virtual int trailing_special() const = 0;
  // Decode() takes spaces before punctuation off (see CleanUpSpaces).
  virtual bool cleans_up_spaces() const { return false; }
};

// Text of one growing target sequence, in pieces that are never half a
// character. Appended pieces and Flush() joined equal Tokenizer::Decode().
// Borrows the tokenizer, which must outlive it.
class StreamDecoder {
 public:
  explicit StreamDecoder(const Tokenizer& tokenizer);
  // The text that `id` makes certain.
  std::string Append(int id);
  // What was held back, with a broken character as U+FFFD.
  std::string Flush();

 private:
  // Takes the whole characters off bytes_; all of it at the end.
  std::string Characters(bool at_end);
  // Takes off text_ what later text cannot change.
  std::string Settled(bool at_end);

  const Tokenizer* tokenizer_;
  std::string bytes_;     // of an unfinished character
  std::string spaces_;    // dropped if nothing follows them
  std::string text_;      // may yet lose a space before punctuation
  bool started_ = false;  // something but spaces has come
};

// Reads a Marian tokenizer: source.spm, target.spm, vocab.json (and
// target_vocab.json where vocabularies are separate), tokenizer_config.json.
absl::StatusOr<std::unique_ptr<Tokenizer>> LoadTokenizer(
    const std::string& directory);

}  // namespace attend

#endif  // ATTEND_ENGINE_TOKENIZER_TOKENIZER_H_
