#ifndef ATTEND_ENGINE_TOKENIZER_SPM_SPM_TOKENIZER_H_
#define ATTEND_ENGINE_TOKENIZER_SPM_SPM_TOKENIZER_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/tokenizer/spm/sentence_piece.h"
#include "engine/tokenizer/spm/vocabulary.h"
#include "engine/tokenizer/text/hf_config.h"
#include "engine/tokenizer/text/languages.h"
#include "engine/tokenizer/text/tokenizer.h"

namespace attend {

// What transformers 5.23's MarianTokenizer and M2M100Tokenizer do:
// SentencePiece cuts the text into pieces, vocab.json numbers them. Const after
// load; any thread.
class SpmTokenizer : public Tokenizer {
 public:
  // See LoadTokenizer.
  static absl::StatusOr<std::unique_ptr<SpmTokenizer>> LoadMarian(
      const std::string& directory);
  // Of one model and one vocabulary, of both sides; the tokens of the languages
  // have the ids after the vocabulary's.
  static absl::StatusOr<std::unique_ptr<SpmTokenizer>> LoadM2m100(
      const std::string& spm, const std::string& vocabulary, HfConfig config);

  absl::StatusOr<Encoding> Encode(const EncodeInput& input) const override;
  absl::StatusOr<std::string> Decode(absl::Span<const int> ids, Side side,
                                     bool keep_special) const override;
  int vocab_size(Side side) const override;
  absl::string_view Piece(int id, Side side) const override;
  int TokenId(absl::string_view piece, Side side) const override;
  bool IsSpecial(int id, Side side) const override;
  absl::string_view TokenText(int id) const override;
  absl::StatusOr<int> LanguageId(absl::string_view language) const override;
  int max_length() const override { return config_.max_length; }
  bool cleans_up_spaces() const override { return config_.clean_up_spaces; }

 private:
  // How the text of one side is cut, and the numbers of the pieces.
  struct SideModel {
    Vocabulary vocabulary;
    SentencePiece encoder;
    int eos_id = 0;
    int unk_id = 0;
    std::vector<bool> special;  // [vocab]
  };

  using SharedSideModel = std::shared_ptr<const SideModel>;

  SpmTokenizer(HfConfig config, SharedSideModel source, SharedSideModel target);
  // `more`: tokens whose ids are after those of the vocabulary.
  static absl::StatusOr<SharedSideModel> LoadSide(
      const std::string& vocabulary, const std::string& spm,
      const HfConfig& config, absl::Span<const std::string> more);
  const SideModel& model(Side side) const;
  // Whose rules turn pieces into text.
  const SentencePiece& decoder(Side side) const;
  // The special token that stands at the start of `text`; "" if none does.
  absl::string_view SpecialAt(absl::string_view text) const;
  // A part of a text without special tokens; `origin` says which.
  void EncodePlain(absl::string_view part, Side side, TokenOrigin origin,
                   Encoding& encoding) const;
  void EncodeText(absl::string_view text, Side side, int number,
                  Encoding& encoding) const;

  const HfConfig config_;
  const std::vector<std::string> special_;    // spellings, longest first
  const SharedSideModel source_, target_;     // M2M100: one
  const std::optional<Languages> languages_;  // none: Marian
  std::vector<std::string> token_texts_;      // [target vocab]
};

}  // namespace attend

#endif  // ATTEND_ENGINE_TOKENIZER_SPM_SPM_TOKENIZER_H_
