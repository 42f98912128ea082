#ifndef ATTEND_ENGINE_TOKENIZER_TEXT_TOKENIZER_H_
#define ATTEND_ENGINE_TOKENIZER_TEXT_TOKENIZER_H_

#include <cstddef>
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

// Decodes one growing target sequence token by token. Returned texts end with
// whole characters. All texts of Append(), then that of Flush(), are together
// the text of Tokenizer::Decode(), except where the sequence continues other
// ids (see Tokenizer::NewStream()).
class StreamDecoder {
 public:
  virtual ~StreamDecoder() = default;
  // Adds any id of the model. Returns the text that was not returned yet and
  // that later ids cannot change any more.
  virtual std::string Append(int id) = 0;
  // Returns the rest of the text; unfinished characters become U+FFFD.
  virtual std::string Flush() = 0;
};

// The arguments of Tokenizer::Encode().
struct EncodeInput {
  absl::string_view text = "";
  std::optional<absl::string_view> pair = std::nullopt;  // a second text
  Side side = Side::kSource;
  // Add the special tokens that the model expects around a text or a pair.
  bool add_special = true;
  // The code of the language of `text` ("eng_Latn"), for tokenizers with
  // languages; see Tokenizer::LanguageId(). Empty: the tokenizer's default.
  absl::string_view language = "";
  // The most tokens; the rest is removed by Truncate(). 0: no limit.
  int max_tokens = 0;
  // What of a pair is removed.
  PairCut cut = PairCut::kLongerFirst;
};

// INVALID_ARGUMENT if a text is not UTF-8.
absl::Status CheckTexts(const EncodeInput& input);

// Text to ids and back. Const after load; any thread may use a tokenizer. A
// model may have more ids than its tokenizer; these ids have no piece and no
// text.
class Tokenizer {
 public:
  virtual ~Tokenizer() = default;

  // The tokens of a text or a pair. INVALID_ARGUMENT if a text is not UTF-8
  // (names the offset of the byte), or if the tokenizer does not know the
  // language (names some that it knows).
  virtual absl::StatusOr<Encoding> Encode(const EncodeInput& input) const = 0;
  // The text of ids, without special tokens unless `keep_special`.
  // INVALID_ARGUMENT if an id is not in the vocabulary.
  virtual absl::StatusOr<std::string> Decode(absl::Span<const int> ids,
                                             Side side,
                                             bool keep_special) const = 0;
  // A decoder of target ids, without special tokens. The tokenizer must outlive
  // it.
  //
  // `before` are target ids that come before those of the stream. The stream's
  // text is then the text of all ids without its beginning, the text of
  // `before`. If `before` ends within a character, the stream's text begins
  // with that character.
  virtual std::unique_ptr<StreamDecoder> NewStream(
      absl::Span<const int> before) const;

  virtual int vocab_size(Side side) const = 0;
  // The vocabulary's spelling of an id; "" if the id has none.
  virtual absl::string_view Piece(int id, Side side) const = 0;
  // The id of a spelling; -1 if the vocabulary does not have it.
  virtual int TokenId(absl::string_view piece, Side side) const = 0;
  virtual bool IsSpecial(int id, Side side) const = 0;
  // The bytes that a target id adds to a text that has begun: a word mark adds
  // a space, a byte token its byte, a special token nothing.
  virtual absl::string_view TokenText(int id) const = 0;

  // The id of the token of a language ("deu_Latn"), with which a target text in
  // that language begins. INVALID_ARGUMENT if there is none (names some
  // languages).
  virtual absl::StatusOr<int> LanguageId(absl::string_view language) const;
  // The languages of a translation model's sources, or of its targets, as its
  // files spell them. Empty: they name none.
  virtual std::vector<std::string> languages(Side) const { return {}; }
  // The id of the mask token; -1 if there is none.
  virtual int mask_id() const { return -1; }
  // The id of unk_token, for what the vocabulary does not have; -1: none.
  virtual int unk_id() const { return -1; }
  // True if the spelling of a token shows that it continues a word (WordPiece).
  virtual bool marks_subwords() const { return false; }
  // The id of bos_token in tokenizer_config.json; -1 if there is none. Whether
  // Encode() adds that token depends on other files.
  virtual int bos_id() const { return -1; }
  // The most tokens of an encoding, as the files say; 0: no limit.
  virtual int max_length() const { return 0; }
  // True if the model gets the token types of an encoding; else all are 0.
  virtual bool has_token_types() const { return true; }
  // Which end of a text Encode() cuts.
  virtual TruncationSide truncation_side() const {
    return TruncationSide::kRight;
  }
  // Bytes of the vocabulary's longest token, as it is spelled there.
  virtual size_t longest_token() const { return 1; }
  // Whether Decode() removes spaces before punctuation (see CleanUpSpaces()).
  virtual bool cleans_up_spaces() const { return false; }
  // Whether the target text of ids is that of their TokenText()s, one after the
  // other (before CleanUpSpaces()).
  virtual bool joins_token_texts() const { return true; }
  // Exception: whether a text loses a space that it begins with.
  virtual bool loses_first_space() const { return false; }
};

}  // namespace attend

#endif  // ATTEND_ENGINE_TOKENIZER_TEXT_TOKENIZER_H_
