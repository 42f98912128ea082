#include "engine/transformer/encode_state.h"

#include "engine/tensor/check.h"

namespace attend {

EncodeState::EncodeState(const Tokens& tokens, int max_blocks)
    : tokens_(tokens),
      // Positions ascend: without a hole the last one is their number less 1.
      has_holes_(!tokens.positions.empty() &&
                 tokens.positions.back() + 1 !=
                     static_cast<int>(tokens.positions.size())) {
  blocks_.reserve(max_blocks);
  kv_.reserve(max_blocks);
}

void EncodeState::Start(EncodeBuffer& buffer) {
  ATTEND_CHECK(!started());
  buffer_ = &buffer;
  stage_ = 0;
  row_ = 0;
  for (int i = 0; i < buffer.BlocksFor(rows()); ++i) {
    blocks_.push_back(buffer.Allocate());
    kv_.push_back(buffer.kv(blocks_.back()));
  }
}

void EncodeState::Release() {
  if (!started()) return;
  for (int block : blocks_) buffer_->Release(block);
  blocks_.clear();
  kv_.clear();
  buffer_ = nullptr;
}

void EncodeState::Advance(int rows) {
  row_ += rows;
  ATTEND_CHECK(row_ <= this->rows());
  if (row_ == this->rows()) {
    row_ = 0;
    ++stage_;
  }
}

float* EncodeState::hidden(int row, int width) const {
  const int block_rows = buffer_->block_rows();
  return buffer_->hidden(blocks_[row / block_rows]) +
         static_cast<size_t>(row % block_rows) * width;
}

float* EncodeState::query(int row, int width) const {
  const int block_rows = buffer_->block_rows();
  return buffer_->query(blocks_[row / block_rows]) +
         static_cast<size_t>(row % block_rows) * width;
}

}  // namespace attend
