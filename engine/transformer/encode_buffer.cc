#include "engine/transformer/encode_buffer.h"

#include "engine/tensor/check.h"

namespace attend {

EncodeBuffer::EncodeBuffer(const KvLayout& layout, int rows, int hidden,
                           int query_width)
    : layout_(layout),
      chunks_(ChunksFor(rows)),
      hidden_width_(hidden),
      query_width_(query_width),
      hidden_(static_cast<size_t>(total_rows()) * hidden),
      query_(static_cast<size_t>(total_rows()) * query_width),
      kv_(chunks_ * layout.block_bytes()) {
  free_.reserve(chunks_);
  for (int chunk = chunks_ - 1; chunk >= 0; --chunk) free_.push_back(chunk);
}

int EncodeBuffer::Allocate() {
  ATTEND_CHECK(!free_.empty());
  const int chunk = free_.back();
  free_.pop_back();
  return chunk;
}

void EncodeBuffer::Release(int chunk) { free_.push_back(chunk); }

float* EncodeBuffer::hidden(int chunk) {
  return hidden_.data() +
         static_cast<size_t>(chunk) * chunk_rows() * hidden_width_;
}

float* EncodeBuffer::query(int chunk) {
  return query_.data() +
         static_cast<size_t>(chunk) * chunk_rows() * query_width_;
}

std::byte* EncodeBuffer::kv(int chunk) {
  return kv_.data() + chunk * layout_.block_bytes();
}

}  // namespace attend
