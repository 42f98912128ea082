#ifndef ATTEND_ENGINE_TOKENIZER_TEXT_IDS_ONLY_H_
#define ATTEND_ENGINE_TOKENIZER_TEXT_IDS_ONLY_H_

#include <memory>
#include <string>

#include "engine/tokenizer/text/tokenizer.h"

namespace attend {

// What stands in for the tokenizer of a directory that has none: its model
// takes and gives token ids, and text is FAILED_PRECONDITION.
class IdsOnly : public Tokenizer {
 public:
  // `directory` is named in errors.
  explicit IdsOnly(std::string directory) : directory_(std::move(directory)) {}

  absl::StatusOr<Encoding> Encode(const EncodeInput& input) const override;
  absl::StatusOr<std::string> Decode(absl::Span<const int> ids, Side side,
                                     bool keep_special) const override;
  int vocab_size(Side) const override { return 0; }
  absl::string_view Piece(int, Side) const override { return ""; }
  int TokenId(absl::string_view, Side) const override { return -1; }
  bool IsSpecial(int, Side) const override { return false; }
  absl::string_view TokenText(int) const override { return ""; }

 private:
  absl::Status NoTokenizer() const;

  const std::string directory_;
};

}  // namespace attend

#endif  // ATTEND_ENGINE_TOKENIZER_TEXT_IDS_ONLY_H_
