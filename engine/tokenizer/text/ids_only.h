#ifndef ATTEND_ENGINE_TOKENIZER_TEXT_IDS_ONLY_H_
#define ATTEND_ENGINE_TOKENIZER_TEXT_IDS_ONLY_H_

#include <string>
#include <utility>

#include "engine/tokenizer/text/tokenizer.h"

namespace attend {

// The tokenizer of a directory without a tokenizer: the model takes and returns
// token ids, and functions that need text return INVALID_ARGUMENT.
class IdsOnly : public Tokenizer {
 public:
  // `reason`: why there is none, for clients ("its class is X"); "": no file.
  explicit IdsOnly(std::string reason = "") : reason_(std::move(reason)) {}

  absl::StatusOr<Encoding> Encode(const EncodeInput& input) const override;
  absl::StatusOr<std::string> Decode(absl::Span<const int> ids, Side side,
                                     bool keep_special) const override;
  int vocab_size(Side) const override { return 0; }
  absl::string_view Piece(int, Side) const override { return ""; }
  int TokenId(absl::string_view, Side) const override { return -1; }
  bool IsSpecial(int, Side) const override { return false; }
  absl::string_view TokenText(int) const override { return ""; }
  bool joins_token_texts() const override { return false; }

 private:
  absl::Status NoTokenizer() const;

  const std::string reason_;
};

}  // namespace attend

#endif  // ATTEND_ENGINE_TOKENIZER_TEXT_IDS_ONLY_H_
