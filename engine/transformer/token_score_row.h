#ifndef ATTEND_ENGINE_TRANSFORMER_TOKEN_SCORE_ROW_H_
#define ATTEND_ENGINE_TRANSFORMER_TOKEN_SCORE_ROW_H_

#include <cstddef>

#include "engine/tensor/buffer.h"
#include "engine/tensor/matrix.h"
#include "engine/tensor/row_source.h"

namespace attend {

// One row: the weights of the logit of token `yes`, less those of token `no`.
class TokenScoreRow final : public RowSource {
 public:
  // `logits` [vocab, width] must outlive this. no = -1: nothing is subtracted.
  TokenScoreRow(const RowSource& logits, int yes, int no)
      : logits_(logits), yes_(yes), no_(no) {}

  int rows() const override { return 1; }
  int cols() const override { return logits_.cols(); }
  void Read(int /*first*/, Matrix dst) const override {
    logits_.Read(yes_, {dst.data, 1, dst.cols});
    if (no_ < 0) return;
    Buffer<float> no(static_cast<size_t>(dst.cols));
    logits_.Read(no_, {no.data(), 1, dst.cols});
    for (int i = 0; i < dst.cols; ++i) dst.data[i] -= no[i];
  }

 private:
  const RowSource& logits_;
  const int yes_;
  const int no_;
};

}  // namespace attend

#endif  // ATTEND_ENGINE_TRANSFORMER_TOKEN_SCORE_ROW_H_
