#include "tests/bench/engine/matmul_replay.h"

#include <algorithm>

#include "absl/time/clock.h"
#include "engine/tensor/status_macros.h"
#include "engine/tensor/stored_rows.h"
#include "tests/bench/engine/random_floats.h"

namespace attend {
namespace {

// Logits rows that the engine computes at once.
constexpr int kProjectionRows = 128;

// Of weights and sources.
constexpr float kLargest = 0.05f;

struct Shape {
  int in = 0;
  int out = 0;
};

int QueryWidth(const AttentionSpec& attention) {
  return attention.heads * attention.head_dim;
}

int KeyValueWidth(const AttentionSpec& attention) {
  return 2 * attention.kv_heads * attention.head_dim;
}

// What the rows of a layer pass, in order.
std::vector<Shape> LayerShapes(const LayerSpec& layer, int hidden) {
  const AttentionSpec& self = layer.self_attention;
  std::vector<Shape> shapes = {{hidden, QueryWidth(self) + KeyValueWidth(self)},
                               {QueryWidth(self), hidden}};
  if (layer.cross_attention) {
    const int query = QueryWidth(*layer.cross_attention);
    shapes.push_back({hidden, query});
    shapes.push_back({query, hidden});
  }
  const FeedForwardSpec& ffn = layer.feed_forward;
  shapes.push_back({hidden, ffn.gated ? 2 * ffn.width : ffn.width});
  shapes.push_back({ffn.width, hidden});
  return shapes;
}

}  // namespace

double DecodeWeights(const TransformerSpec& spec) {
  double weights =
      static_cast<double>(spec.hidden) * spec.decoder->embedding.vocab;
  for (const LayerSpec& layer : spec.decoder->layers) {
    for (const Shape shape : LayerShapes(layer, spec.hidden)) {
      weights += static_cast<double>(shape.in) * shape.out;
    }
  }
  return weights;
}

absl::StatusOr<MatMulReplay> MatMulReplay::Create(Compute& compute,
                                                  const TransformerSpec& spec,
                                                  ComputeType dtype,
                                                  int max_rows) {
  MatMulReplay replay(compute, max_rows);
  int widest = 0;
  size_t dst = 0;
  const auto add = [&](std::vector<MatMul>& maps, Shape shape) -> absl::Status {
    const Buffer<float> weights =
        RandomFloats(static_cast<size_t>(shape.in) * shape.out, kLargest);
    ASSIGN_OR_RETURN(
        MatMul map,
        MatMul::Create(*replay.primitives_, dtype,
                       StoredRows({weights.data(), shape.out, shape.in}),
                       max_rows));
    maps.push_back(std::move(map));
    widest = std::max(widest, shape.in);
    dst = std::max(dst, static_cast<size_t>(max_rows) * shape.out);
    return absl::OkStatus();
  };
  // Without an encoder a source is the decoder's prompt.
  const StackSpec& sources = spec.encoder ? *spec.encoder : *spec.decoder;
  for (const LayerSpec& layer : sources.layers) {
    for (const Shape shape : LayerShapes(layer, spec.hidden)) {
      RETURN_IF_ERROR(add(replay.encode_, shape));
    }
  }
  if (spec.decoder) {
    for (const LayerSpec& layer : spec.decoder->layers) {
      for (const Shape shape : LayerShapes(layer, spec.hidden)) {
        RETURN_IF_ERROR(add(replay.decode_, shape));
      }
      if (!layer.cross_attention) continue;
      RETURN_IF_ERROR(
          add(replay.encode_,
              {spec.hidden, KeyValueWidth(*layer.cross_attention)}));
    }
    RETURN_IF_ERROR(replay.AddProjection(dtype, spec.hidden,
                                         spec.decoder->embedding.vocab));
  }
  replay.src_ = RandomFloats(static_cast<size_t>(max_rows) * widest, kLargest);
  const Matrix src = {replay.src_.data(), max_rows, widest};
  replay.operand_.emplace(dtype, max_rows, widest);
  MakeOperand(compute, src, replay.operand_->Of(src));
  replay.dst_ = Buffer<float>(dst);
  replay.context_ = std::make_unique<ExecContext>(compute, *replay.primitives_);
  return replay;
}

absl::Status MatMulReplay::AddProjection(ComputeType dtype, int hidden,
                                         int vocab) {
  const Buffer<float> weights =
      RandomFloats(static_cast<size_t>(hidden) * vocab, kLargest);
  ASSIGN_OR_RETURN(
      Projection projection,
      Projection::Create(*primitives_, dtype,
                         StoredRows({weights.data(), vocab, hidden}),
                         Buffer<float>(), kProjectionRows));
  projection_.emplace(std::move(projection));
  logits_.emplace(kProjectionRows, vocab, compute_.team().size());
  return absl::OkStatus();
}

absl::StatusOr<double> MatMulReplay::Run(absl::Span<const StepRows> steps) {
  const absl::Time start = absl::Now();
  for (const StepRows& step : steps) {
    RETURN_IF_ERROR(RunMaps(decode_, step.decode));
    RETURN_IF_ERROR(RunProjection(step.decode));
    RETURN_IF_ERROR(RunMaps(encode_, step.encode));
  }
  return absl::ToDoubleSeconds(absl::Now() - start);
}

absl::Status MatMulReplay::RunMaps(absl::Span<const MatMul> maps, int rows) {
  for (; rows > 0; rows -= max_rows_) {
    const int now = std::min(rows, max_rows_);
    for (const MatMul& map : maps) {
      const Operand src = operand_->Of({src_.data(), now, map.in()});
      RETURN_IF_ERROR(
          map.Run(*context_, src, {}, {dst_.data(), now, map.out()}));
    }
  }
  return absl::OkStatus();
}

absl::Status MatMulReplay::RunProjection(int rows) {
  // Nothing is asked of the logits: products and sums only.
  static constexpr LogitsNeed kNothing[kProjectionRows] = {};
  for (; rows > 0; rows -= kProjectionRows) {
    const int now = std::min(rows, kProjectionRows);
    RETURN_IF_ERROR(projection_->Run(
        *context_, operand_->Of({src_.data(), now, projection_->in()}),
        {kNothing, static_cast<size_t>(now)}, *logits_));
  }
  return absl::OkStatus();
}

}  // namespace attend
