#ifndef ATTEND_TESTS_ENGINE_GRAMMAR_PIECE_TOKENIZER_H_
#define ATTEND_TESTS_ENGINE_GRAMMAR_PIECE_TOKENIZER_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "engine/tokenizer/text/tokenizer.h"

namespace attend {

// A tokenizer that has nothing but the texts of its ids; "" is special.
class PieceTokenizer final : public Tokenizer {
 public:
  explicit PieceTokenizer(std::vector<std::string> texts)
      : texts_(std::move(texts)) {}

  absl::StatusOr<Encoding> Encode(const EncodeInput&) const override {
    return absl::UnimplementedError("");
  }
  absl::StatusOr<std::string> Decode(absl::Span<const int>, Side,
                                     bool) const override {
    return absl::UnimplementedError("");
  }
  int vocab_size(Side) const override {
    return static_cast<int>(texts_.size());
  }
  absl::string_view Piece(int id, Side) const override { return texts_[id]; }
  int TokenId(absl::string_view, Side) const override { return -1; }
  bool IsSpecial(int id, Side) const override { return texts_[id].empty(); }
  absl::string_view TokenText(int id) const override {
    if (id >= vocab_size(Side::kTarget)) return "";
    return texts_[id];
  }
  bool joins_token_texts() const override { return joins; }
  bool loses_first_space() const override { return loses_space; }

  bool joins = true;
  bool loses_space = false;

 private:
  const std::vector<std::string> texts_;
};

}  // namespace attend

#endif  // ATTEND_TESTS_ENGINE_GRAMMAR_PIECE_TOKENIZER_H_
