#ifndef ATTEND_ENGINE_TOKENIZER_SPM_SPM_TOKENIZER_H_
#define ATTEND_ENGINE_TOKENIZER_SPM_SPM_TOKENIZER_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/tensor/text_list.h"
#include "engine/tokenizer/spm/model_card.h"
#include "engine/tokenizer/spm/sentence_piece.h"
#include "engine/tokenizer/spm/vocabulary.h"
#include "engine/tokenizer/text/hf_config.h"
#include "engine/tokenizer/text/languages.h"
#include "engine/tokenizer/text/tokenizer.h"

namespace attend {

// MarianTokenizer and M2M100Tokenizer of transformers 5.23: SentencePiece cuts
// the text into pieces, and vocab.json has the ids of the pieces. Const after
// load; any thread may use it.
class SpmTokenizer : public Tokenizer {
 public:
  // See LoadTokenizer().
  static absl::StatusOr<std::unique_ptr<SpmTokenizer>> LoadMarian(
      const std::string& directory);
  // The same with vocabularies of another place, whose path errors name. They
  // need no token for padding, and no tokens that only the settings have.
  struct Vocabularies {
    std::string path;
    Vocabulary source;
    Vocabulary target;
    bool separate = false;  // false: the two are the same
  };
  static absl::StatusOr<std::unique_ptr<SpmTokenizer>> LoadMarian(
      const std::string& directory, Vocabularies vocabularies);
  // One model and one vocabulary for both sides. The tokens of languages have
  // the ids after the vocabulary. `spm` and `vocabulary` are paths.
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
  std::vector<std::string> languages(Side side) const override;
  absl::StatusOr<int> LanguageId(absl::string_view language) const override;
  int max_length() const override { return config_.max_length; }
  TruncationSide truncation_side() const override {
    return config_.truncation_side;
  }
  size_t longest_token() const override { return longest_token_; }
  bool cleans_up_spaces() const override { return config_.clean_up_spaces; }
  bool loses_first_space() const override { return true; }

 private:
  // The pieces and ids of one side.
  struct SideModel {
    Vocabulary vocabulary;
    SentencePiece encoder;
    int eos_id = 0;
    int unk_id = 0;
    std::vector<bool> special;  // [vocab]
  };

  using SharedSideModel = std::shared_ptr<const SideModel>;

  // `card`: of a Marian model.
  SpmTokenizer(HfConfig config, SharedSideModel source, SharedSideModel target,
               const ModelCard& card);
  // `path` is where the vocabulary comes from, `spm` the path of a model.
  static absl::StatusOr<SharedSideModel> LoadSide(const std::string& path,
                                                  Vocabulary tokens,
                                                  const std::string& spm,
                                                  const HfConfig& config);
  // The spellings of the special tokens, longest first.
  static std::vector<std::string> SpecialTokens(const HfConfig& config);
  // Finds the languages of a Marian model: by tokens like ">>fra<<", by
  // source_lang and target_lang of tokenizer_config.json, and by the card.
  void ReadMarianLanguages(const ModelCard& card);
  const SideModel& model(Side side) const;
  // The model that turns the side's pieces into text.
  const SentencePiece& decoder(Side side) const;
  // The special token with which `text` begins; "" if none.
  absl::string_view SpecialAt(absl::string_view text) const;
  // Encodes a stretch of a text without special tokens. `origin`: its place.
  void EncodePlain(absl::string_view text, Side side, TokenOrigin origin,
                   Encoding& encoding) const;
  void EncodeText(absl::string_view text, Side side, int number,
                  Encoding& encoding) const;

  const HfConfig config_;
  const std::vector<std::string> special_;    // spellings, longest first
  const SharedSideModel source_, target_;     // M2M100: one
  const std::optional<Languages> languages_;  // none: Marian
  std::vector<std::string> marian_sources_, marian_targets_;
  TextList token_texts_;  // [target vocab]
  size_t longest_token_ = 0;
};

}  // namespace attend

#endif  // ATTEND_ENGINE_TOKENIZER_SPM_SPM_TOKENIZER_H_
