#include "engine/transformer/encode_state.h"

#include "engine/tensor/check.h"

namespace attend {

EncodeState::EncodeState(const Tokens& tokens, int max_chunks)
    : tokens_(tokens),
      // They ascend, so the last one tells.
      has_holes_(!tokens.positions.empty() &&
                 tokens.positions.back() + 1 !=
                     static_cast<int>(tokens.positions.size())) {
  chunks_.reserve(max_chunks);
  kv_.reserve(max_chunks);
}

void EncodeState::Start(EncodeBuffer& buffer) {
  ATTEND_CHECK(!started());
  buffer_ = &buffer;
  stage_ = 0;
  row_ = 0;
  for (int i = 0; i < buffer.ChunksFor(rows()); ++i) {
    chunks_.push_back(buffer.Allocate());
    kv_.push_back(buffer.kv(chunks_.back()));
  }
}

void EncodeState::Release() {
  if (!started()) return;
  for (int chunk : chunks_) buffer_->Release(chunk);
  chunks_.clear();
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
  const int chunk_rows = buffer_->chunk_rows();
  return buffer_->hidden(chunks_[row / chunk_rows]) +
         static_cast<size_t>(row % chunk_rows) * width;
}

float* EncodeState::query(int row, int width) const {
  const int chunk_rows = buffer_->chunk_rows();
  return buffer_->query(chunks_[row / chunk_rows]) +
         static_cast<size_t>(row % chunk_rows) * width;
}

}  // namespace attend
