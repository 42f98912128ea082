#ifndef ATTEND_ENGINE_TOKENIZER_TEXT_TOKENIZER_H_
#define ATTEND_ENGINE_TOKENIZER_TEXT_TOKENIZER_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "engine/tokenizer/text/encoding.h"

namespace attend {

enum class Side { kSource, kTarget };

// Text of one growing target sequence, in pieces that are never half a
// character. Appended pieces and Flush() joined equal Tokenizer::Decode(), but
// for what follows other ids (see Tokenizer::NewStream).
class StreamDecoder {
 public:
  virtual ~StreamDecoder() = default;
  // The text that `id` makes certain. The id may be any that the model has.
  virtual std::string Append(int id) = 0;
  // What was held back, with a broken character as U+FFFD.
  virtual std::string Flush() = 0;
};

// What Tokenizer::Encode() is to do.
struct EncodeInput {
  absl::string_view text = "";
  std::optional<absl::string_view> pair = std::nullopt;  // a second text
  Side side = Side::kSource;
  // Put in the special tokens that a model expects around such a text.
  bool add_special = true;
  // The code of the language of `text`, for models whose special tokens say it
  // ("eng_Latn"; see Tokenizer::LanguageId). Empty: the tokenizer's default.
  absl::string_view language = "";
  // Leave at most so many tokens (see Truncate). 0: all of them.
  int max_tokens = 0;
};

// INVALID_ARGUMENT if a text is not UTF-8.
absl::Status CheckTexts(const EncodeInput& input);

// Text to ids and back. Const and thread-safe after load. A model may have more
// ids than its tokenizer: those beyond have no piece and no text.
class Tokenizer {
 public:
  virtual ~Tokenizer() = default;

  // INVALID_ARGUMENT if a text is not UTF-8 (names the byte offset), or the
  // language is not one of this tokenizer's (names some that are).
  virtual absl::StatusOr<Encoding> Encode(const EncodeInput& input) const = 0;
  // Text of ids; special tokens are left out unless `keep_special`.
  // INVALID_ARGUMENT for an id outside of the vocabulary.
  virtual absl::StatusOr<std::string> Decode(absl::Span<const int> ids,
                                             Side side,
                                             bool keep_special) const = 0;
  // Decodes target ids one by one, special tokens left out. Borrows this.
  //
  // With `before`, target ids too, the text is what follows theirs: that of
  // both less that of the ids before, as far as these stay as they are. A
  // character that they leave unfinished comes whole.
  virtual std::unique_ptr<StreamDecoder> NewStream(
      absl::Span<const int> before) const;

  virtual int vocab_size(Side side) const = 0;
  // The vocabulary's spelling of an id.
  virtual absl::string_view Piece(int id, Side side) const = 0;
  // The id of that spelling; -1 if the vocabulary has none.
  virtual int TokenId(absl::string_view piece, Side side) const = 0;
  virtual bool IsSpecial(int id, Side side) const = 0;
  // The bytes that a target id adds to running text (a word mark is a space,
  // a byte token its byte, a special token nothing).
  virtual absl::string_view TokenText(int id) const = 0;

  // The token that stands for a language ("deu_Latn"): what a target text in it
  // begins with. INVALID_ARGUMENT if there is none (names some that there are).
  virtual absl::StatusOr<int> LanguageId(absl::string_view language) const;
  // The token that masks another; -1 if there is none.
  virtual int mask_id() const { return -1; }
  // The token that a text begins with, as tokenizer_config.json says; -1 if it
  // does not. Encode() puts it in where the rest of the files say so.
  virtual int bos_id() const { return -1; }
  // Tokens of an encoding at most, as the files say; 0 if they do not.
  virtual int max_length() const { return 0; }
  // Decode() takes spaces before punctuation off (see CleanUpSpaces).
  virtual bool cleans_up_spaces() const { return false; }
};

}  // namespace attend

#endif  // ATTEND_ENGINE_TOKENIZER_TEXT_TOKENIZER_H_
