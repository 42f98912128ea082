#include "server/inference/token_tensors.h"

#include <algorithm>
#include <cstddef>

namespace attend {
namespace {

Shape With(Shape shape, std::initializer_list<size_t> more) {
  for (size_t size : more) shape.push_back(static_cast<int64_t>(size));
  return shape;
}

void WriteIds(const std::vector<TokenRow>& rows, const Shape& shape,
              const TokenTensorNames& names, OutputTensors& outputs) {
  size_t width = 0;
  std::vector<int32_t> lengths;
  for (const TokenRow& row : rows) {
    width = std::max<size_t>(width, row.ids.size());
    lengths.push_back(row.ids.size());
  }
  PaddedRows<int32_t> ids(rows.size(), width, kNoId);
  for (size_t r = 0; r < rows.size(); ++r) {
    for (int i = 0; i < rows[r].ids.size(); ++i) ids.At(r, i) = rows[r].ids[i];
  }
  outputs.Add(names.ids, With(shape, {width}), ids.values());
  outputs.Add(names.lengths, shape, lengths);
}

void WriteLogProbs(const std::vector<TokenRow>& rows, const Shape& shape,
                   const TokenTensorNames& names, OutputTensors& outputs) {
  size_t width = 0;
  size_t top = 0;
  for (const TokenRow& row : rows) {
    width = std::max<size_t>(width, row.log_probs.size());
    for (const v1::TokenLogProbs& token : row.log_probs) {
      top = std::max<size_t>(top, token.top_size());
    }
  }
  PaddedRows<float> log_probs(rows.size(), width, 0);
  PaddedRows<int32_t> top_ids(rows.size(), width * top, kNoId);
  PaddedRows<float> top_log_probs(rows.size(), width * top, 0);
  for (size_t r = 0; r < rows.size(); ++r) {
    for (int i = 0; i < rows[r].log_probs.size(); ++i) {
      const v1::TokenLogProbs& token = rows[r].log_probs[i];
      log_probs.At(r, i) = token.token().log_prob();
      for (int k = 0; k < token.top_size(); ++k) {
        top_ids.At(r, i * top + k) = token.top(k).id();
        top_log_probs.At(r, i * top + k) = token.top(k).log_prob();
      }
    }
  }
  outputs.Add(names.log_probs, With(shape, {width}), log_probs.values());
  outputs.Add(names.top_ids, With(shape, {width, top}), top_ids.values());
  outputs.Add(names.top_log_probs, With(shape, {width, top}),
              top_log_probs.values());
}

void WriteAlignments(const std::vector<TokenRow>& rows, const Shape& shape,
                     const TokenTensorNames& names, OutputTensors& outputs) {
  size_t width = 0;
  size_t sources = 0;
  for (const TokenRow& row : rows) {
    const size_t tokens = row.alignment.source_size();
    width = std::max(width, tokens);
    if (tokens == 0) continue;
    sources = std::max(sources, row.alignment.weights_size() / tokens);
  }
  PaddedRows<int32_t> best(rows.size(), width, kNoId);
  PaddedRows<float> weights(rows.size(), width * sources, 0);
  for (size_t r = 0; r < rows.size(); ++r) {
    const v1::Alignment& alignment = rows[r].alignment;
    const int tokens = alignment.source_size();
    for (int t = 0; t < tokens; ++t) {
      best.At(r, t) = alignment.source(t);
      const int of_token = alignment.weights_size() / tokens;
      for (int s = 0; s < of_token; ++s) {
        weights.At(r, t * sources + s) = alignment.weights(t * of_token + s);
      }
    }
  }
  outputs.Add(names.alignment, With(shape, {width}), best.values());
  outputs.Add(names.alignment_weights, With(shape, {width, sources}),
              weights.values());
}

}  // namespace

void WriteTokenRows(const std::vector<TokenRow>& rows, Shape shape,
                    const TokenTensorNames& names, OutputTensors& outputs) {
  WriteIds(rows, shape, names, outputs);
  WriteLogProbs(rows, shape, names, outputs);
  WriteAlignments(rows, shape, names, outputs);
}

}  // namespace attend
