#include "tests/bench/matmul_replay.h"

#include <algorithm>
#include <random>

#include "absl/time/clock.h"
#include "engine/tensor/status_macros.h"

namespace attend {
namespace {

// Logits rows that the engine computes at once.
constexpr int kProjectionRows = 128;

Buffer<float> Random(size_t count) {
  Buffer<float> values(count);
  std::minstd_rand random(1);
  std::uniform_real_distribution<float> uniform(-0.05f, 0.05f);
  for (size_t i = 0; i < count; ++i) values[i] = uniform(random);
  return values;
}

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
  shapes.push_back({hidden, layer.feed_forward.width});
  shapes.push_back({layer.feed_forward.width, hidden});
  return shapes;
}

}  // namespace

absl::StatusOr<MatMulReplay> MatMulReplay::Create(Compute& compute,
                                                  const TransformerSpec& spec,
                                                  DType dtype, int max_rows) {
  MatMulReplay replay(compute, max_rows);
  size_t src = 0, dst = 0;
  const auto add = [&](std::vector<MatMul>& maps, Shape shape,
                       int rows) -> absl::Status {
    const Buffer<float> weights =
        Random(static_cast<size_t>(shape.in) * shape.out);
    ASSIGN_OR_RETURN(
        MatMul map,
        MatMul::Create(compute, dtype, {weights.data(), shape.out, shape.in},
                       rows));
    maps.push_back(std::move(map));
    src = std::max(src, static_cast<size_t>(rows) * shape.in);
    dst = std::max(dst, static_cast<size_t>(rows) * shape.out);
    return absl::OkStatus();
  };
  for (const LayerSpec& layer : spec.encoder->layers) {
    for (const Shape shape : LayerShapes(layer, spec.hidden)) {
      RETURN_IF_ERROR(add(replay.encode_, shape, max_rows));
    }
  }
  for (const LayerSpec& layer : spec.decoder->layers) {
    for (const Shape shape : LayerShapes(layer, spec.hidden)) {
      RETURN_IF_ERROR(add(replay.decode_, shape, max_rows));
    }
    const Shape key_value = {spec.hidden,
                             KeyValueWidth(*layer.cross_attention)};
    RETURN_IF_ERROR(add(replay.encode_, key_value, max_rows));
  }
  RETURN_IF_ERROR(add(replay.projection_,
                      {spec.hidden, spec.decoder->embedding.vocab},
                      kProjectionRows));
  replay.src_ = Random(src);
  replay.operand_.emplace(dtype, max_rows,
                          static_cast<int>(src) / max_rows + 1);
  replay.dst_ = Buffer<float>(dst);
  return replay;
}

absl::StatusOr<double> MatMulReplay::Run(absl::Span<const StepRows> steps) {
  const absl::Time start = absl::Now();
  for (const StepRows& step : steps) {
    RETURN_IF_ERROR(RunAll(decode_, step.decode, max_rows_));
    RETURN_IF_ERROR(RunAll(projection_, step.decode, kProjectionRows));
    RETURN_IF_ERROR(RunAll(encode_, step.encode, max_rows_));
  }
  return absl::ToDoubleSeconds(absl::Now() - start);
}

absl::Status MatMulReplay::RunAll(absl::Span<const MatMul> maps, int rows,
                                  int tile) {
  for (; rows > 0; rows -= tile) {
    const int now = std::min(rows, tile);
    for (const MatMul& map : maps) {
      RETURN_IF_ERROR(map.Run(compute_,
                              operand_->Of({src_.data(), now, map.in()}), {},
                              {dst_.data(), now, map.out()}));
    }
  }
  return absl::OkStatus();
}

}  // namespace attend
