#ifndef ATTEND_ENGINE_TOKENIZER_MARIAN_TOKENIZER_H_
#define ATTEND_ENGINE_TOKENIZER_MARIAN_TOKENIZER_H_

#include <memory>
#include <string>
#include <vector>

#include "engine/tokenizer/sentence_piece.h"
#include "engine/tokenizer/tokenizer.h"
#include "engine/tokenizer/tokenizer_config.h"
#include "engine/tokenizer/vocabulary.h"

namespace attend {

// What transformers 5.23's MarianTokenizer does: SentencePiece cuts the text
// into pieces, vocab.json numbers them. Const after Load(); any thread.
class MarianTokenizer : public Tokenizer {
 public:
  // See LoadTokenizer.
  static absl::StatusOr<std::unique_ptr<MarianTokenizer>> Load(
      const std::string& directory);

  absl::StatusOr<Encoding> Encode(const EncodeInput& input) const override;
  absl::StatusOr<std::string> Decode(absl::Span<const int> ids, Side side,
                                     bool keep_special) const override;
  int vocab_size(Side side) const override;
  absl::string_view Piece(int id, Side side) const override;
  int TokenId(absl::string_view piece, Side side) const override;
  bool IsSpecial(int id, Side side) const override;
  absl::string_view TokenText(int id) const override;
  int max_length() const override { return config_.max_length; }
  bool cleans_up_spaces() const override { return config_.clean_up_spaces; }

 private:
  // One language: how its text is cut, and the numbers of the pieces.
  struct Language {
    Vocabulary vocabulary;
    SentencePiece encoder;
    int eos_id = 0;
    int unk_id = 0;
    std::vector<bool> special;  // [vocab]
  };

  MarianTokenizer(TokenizerConfig config, Language source, Language target);
  static absl::StatusOr<Language> LoadLanguage(const std::string& vocabulary,
                                               const std::string& spm,
                                               const TokenizerConfig& config);
  const Language& language(Side side) const;
  // Whose rules turn pieces into text.
  const SentencePiece& decoder(Side side) const;
  // The special token that stands at the start of `text`; "" if none does.
  absl::string_view SpecialAt(absl::string_view text) const;
  // A part of a text without special tokens; `origin` says which.
  void EncodePlain(absl::string_view part, Side side, TokenOrigin origin,
                   Encoding& encoding) const;
  void EncodeText(absl::string_view text, Side side, int number,
                  Encoding& encoding) const;

  TokenizerConfig config_;
  std::vector<std::string> special_;  // spellings, longest first
  Language source_;
  Language target_;                       // its vocabulary may be the source's
  std::vector<std::string> token_texts_;  // [target vocab]
};

}  // namespace attend

#endif  // ATTEND_ENGINE_TOKENIZER_MARIAN_TOKENIZER_H_
