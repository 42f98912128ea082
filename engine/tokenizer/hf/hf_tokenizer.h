#ifndef ATTEND_ENGINE_TOKENIZER_HF_HF_TOKENIZER_H_
#define ATTEND_ENGINE_TOKENIZER_HF_HF_TOKENIZER_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/tensor/text_list.h"
#include "engine/tokenizer/hf/decoder_rules.h"
#include "engine/tokenizer/hf/hf_library.h"
#include "engine/tokenizer/text/hf_config.h"
#include "engine/tokenizer/text/languages.h"
#include "engine/tokenizer/text/tokenizer.h"

namespace attend {

// The tokenizer of a tokenizer.json and the files beside it, as in transformers
// 5.23. Both sides have one vocabulary. Const after Create(); any thread may
// use it.
class HfTokenizer final : public Tokenizer {
 public:
  // See LoadTokenizer().
  static absl::StatusOr<std::unique_ptr<HfTokenizer>> Load(
      const std::string& directory, const TokenizerSettings& settings = {});

  // `json` is the contents of a tokenizer.json, which need not be a file;
  // errors name `path`.
  static absl::StatusOr<std::unique_ptr<HfTokenizer>> Create(
      const std::string& path, absl::string_view json, HfConfig config);

  // The same, but the class of `config` changes the tokenizer.
  static absl::StatusOr<std::unique_ptr<HfTokenizer>> CreateOfClass(
      const std::string& path, std::string json, HfConfig config);

  absl::StatusOr<Encoding> Encode(const EncodeInput& input) const override;
  absl::StatusOr<std::string> Decode(absl::Span<const int> ids, Side side,
                                     bool keep_special) const override;
  std::unique_ptr<StreamDecoder> NewStream(
      absl::Span<const int> before) const override;
  int vocab_size(Side) const override { return pieces_.size(); }
  absl::string_view Piece(int id, Side side) const override;
  int TokenId(absl::string_view piece, Side side) const override;
  bool IsSpecial(int id, Side side) const override;
  absl::string_view TokenText(int id) const override;
  absl::StatusOr<int> LanguageId(absl::string_view language) const override;
  std::vector<std::string> languages(Side side) const override;
  int mask_id() const override { return mask_id_; }
  int unk_id() const override {
    return config_.unk.empty() ? -1 : TokenId(config_.unk, Side::kSource);
  }
  bool marks_subwords() const override { return marks_subwords_; }
  int bos_id() const override {
    return config_.bos.empty() ? -1 : TokenId(config_.bos, Side::kSource);
  }
  int max_length() const override { return config_.max_length; }
  TruncationSide truncation_side() const override {
    return config_.truncation_side;
  }
  size_t longest_token() const override { return longest_token_; }
  bool cleans_up_spaces() const override { return config_.clean_up_spaces; }
  bool has_token_types() const override { return config_.token_types; }
  bool joins_token_texts() const override {
    return rules_.kind != DecoderRules::Kind::kWhole;
  }
  bool loses_first_space() const override { return rules_.FirstLosesSpace(); }

  // For HfStream: whether an id has text, and how texts are joined.
  bool HasText(int id) const;
  const DecoderRules& rules() const { return rules_; }

 private:
  HfTokenizer(HfLibrary library, HfConfig config)
      : library_(std::move(library)), config_(std::move(config)) {}
  // Does what the class of the tokenizer does after tokens were added.
  absl::Status FinishClass();
  absl::Status AddTokens(const std::string& path);
  absl::Status ReadPieces();
  absl::Status ReadDecoder(const std::string& path);

  HfLibrary library_;
  HfConfig config_;
  DecoderRules rules_;
  TextList pieces_;            // by id; "" if the id has none
  std::vector<bool> special_;  // [vocab]
  TextList texts_;             // [vocab]
  std::vector<int> sorted_;    // ids that have a piece, by piece
  std::optional<Languages> languages_;
  bool has_post_processor_ = false;
  bool marks_subwords_ = false;
  int mask_id_ = -1;
  size_t longest_token_ = 0;
};

}  // namespace attend

#endif  // ATTEND_ENGINE_TOKENIZER_HF_HF_TOKENIZER_H_
