#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/types/span.h"
#include "engine/ops/attention/attention.h"
#include "engine/ops/attention/kv_layout.h"
#include "engine/ops/attention/kv_store.h"
#include "engine/tensor/buffer.h"
#include "tests/bench/engine/random_floats.h"
#include "tests/bench/ops/ops_bench.h"

namespace attend {
namespace {

// Sources, rows of each, and keys that each row sees.
struct Shape {
  int sources;
  int rows;
  int keys;
};

constexpr AttentionRules kRules = {.scale = 0.125f};

KvLayout LayoutOf(Isa isa, KvType dtype) {
  return DecoderLayout(isa, {.layers = 1,
                             .kv_heads = kHeads,
                             .head_dim = kHidden / kHeads,
                             .dtype = dtype});
}

// Of so many tokens' keys and values in all layers.
double KvBytes(const KvLayout& layout, int tokens) {
  return static_cast<double>(layout.block_bytes()) / layout.block_tokens *
         tokens;
}

// Memory that one benchmark leaves to the next, since the first touch of so
// much takes longer than what is measured.
class Arena {
 public:
  // What was handed out before is given back.
  std::byte* Take(size_t bytes) {
    if (memory_.size() < bytes) {
      memory_ = {};
      memory_ = Buffer<std::byte>(bytes);
    }
    return memory_.data();
  }

 private:
  Buffer<std::byte> memory_;
};

// Keys and values of some sources in blocks of their own, in so many layers
// that those of a layer are cold whenever its turn comes.
class KvFixture {
 public:
  KvFixture(const Setup& setup, Arena& arena, KvType dtype, int sources,
            int keys, size_t cold_bytes)
      : layout_(LayoutOf(setup.compute.isa(), dtype)), blocks_(sources) {
    const int count =
        (keys + KvLayout::kBlockTokens - 1) / KvLayout::kBlockTokens;
    const size_t layer_bytes = layout_.block_bytes() * sources * count;
    layout_.layers = 1 + static_cast<int>(cold_bytes / layer_bytes);
    std::byte* at = arena.Take(layer_bytes * layout_.layers);
    for (std::vector<std::byte*>& blocks : blocks_) {
      for (int i = 0; i < count; ++i, at += layout_.block_bytes()) {
        blocks.push_back(at);
      }
    }
    Fill(setup, keys);
  }

  const KvLayout& layout() const { return layout_; }
  int NextLayer() { return next_++ % layout_.layers; }
  absl::Span<std::byte* const> blocks(int source) const {
    return blocks_[source];
  }

 private:
  // The first layer anew, for all sources alike, and copies of it.
  void Fill(const Setup& setup, int keys) {
    const Buffer<float> kv =
        RandomFloats(static_cast<size_t>(keys) * 2 * kHidden, 1);
    std::vector<KvWrite> writes;
    for (const std::vector<std::byte*>& blocks : blocks_) {
      writes.push_back({0, keys, blocks, 0});
    }
    WriteKv(setup.compute, {.layout = &layout_,
                            .key = kv.data(),
                            .value = kv.data() + kHidden,
                            .stride = 2 * kHidden,
                            .writes = writes});
    const size_t bytes = layout_.head_at(1, 0);  // of a block's layer
    for (const std::vector<std::byte*>& blocks : blocks_) {
      for (std::byte* const block : blocks) {
        for (int layer = 1; layer < layout_.layers; ++layer) {
          std::memcpy(block + layout_.head_at(layer, 0), block, bytes);
        }
      }
    }
  }

  KvLayout layout_;
  std::vector<std::vector<std::byte*>> blocks_;
  int next_ = 0;
};

void AttentionOp(benchmark::State& state, const Setup& setup, Arena& arena,
                 KvType kv_dtype, const Shape& shape, size_t cold_bytes) {
  KvFixture kv(setup, arena, kv_dtype, shape.sources, shape.keys, cold_bytes);
  const int rows = shape.sources * shape.rows;
  const Buffer<float> query =
      RandomFloats(static_cast<size_t>(rows) * kHidden, 1);
  Buffer<float> dst(query.size());
  std::vector<AttentionPiece> pieces;
  for (int i = 0; i < shape.sources; ++i) {
    pieces.push_back({.first_row = i * shape.rows,
                      .rows = shape.rows,
                      .blocks = kv.blocks(i),
                      .keys = shape.keys});
  }
  Measure(
      state, setup,
      [&] {
        Attention(setup.attention, {.rules = &kRules,
                                    .layout = &kv.layout(),
                                    .layer = kv.NextLayer(),
                                    .heads = kHeads,
                                    .query = query.data(),
                                    .query_stride = kHidden,
                                    .pieces = pieces,
                                    .dst = {dst.data(), rows, kHidden}});
      },
      [&]() -> OpWork {
        // Each source's keys and values once for all its rows.
        return {.bytes = shape.sources *
                             KvBytes(LayoutOf(setup.compute.isa(), kv_dtype),
                                     shape.keys) +
                         8.0 * rows * kHidden,
                .flop = 4.0 * rows * shape.keys * kHidden};
      });
}

void WriteKvOp(benchmark::State& state, const Setup& setup, Arena& arena,
               KvType kv_dtype, int sources, int tokens) {
  KvFixture kv(setup, arena, kv_dtype, sources, tokens, setup.cold_bytes);
  const Buffer<float> src =
      RandomFloats(static_cast<size_t>(sources) * tokens * 2 * kHidden, 1);
  std::vector<KvWrite> writes;
  for (int i = 0; i < sources; ++i) {
    writes.push_back({i * tokens, tokens, kv.blocks(i), 0});
  }
  Measure(
      state, setup,
      [&] {
        WriteKv(setup.compute, {.layout = &kv.layout(),
                                .layer = kv.NextLayer(),
                                .key = src.data(),
                                .value = src.data() + kHidden,
                                .stride = 2 * kHidden,
                                .writes = writes});
      },
      [&]() -> OpWork {
        return {.bytes =
                    sources *
                    (8.0 * tokens * kHidden +
                     KvBytes(LayoutOf(setup.compute.isa(), kv_dtype), tokens))};
      });
}

// What one member of the team pays where hypotheses part: half a block, six
// layers.
void CopyKvOp(benchmark::State& state, const Setup& setup, Arena& arena,
              KvType kv_dtype) {
  constexpr int kTokens = KvLayout::kBlockTokens / 2;
  KvLayout layout = LayoutOf(setup.compute.isa(), kv_dtype);
  layout.layers = 6;
  const size_t block = layout.block_bytes();
  const size_t blocks = 2 * (1 + setup.cold_bytes / block / 2);
  std::byte* const memory = arena.Take(blocks * block);
  size_t next = 0;
  Measure(
      state, setup,
      [&] {
        std::byte* const from = memory + next % blocks * block;
        CopyKv(layout, from, kTokens, from + block);
        next += 2;
      },
      [&]() -> OpWork { return {.bytes = 2 * KvBytes(layout, kTokens)}; });
}

void RegisterOps(const Setup& setup, const std::shared_ptr<Arena>& arena,
                 KvType kv_dtype) {
  const std::string dtype(TypeName(kv_dtype));
  const auto attention = [&](const char* kind, Shape shape, size_t cold_bytes) {
    Register(absl::StrFormat("attention/%s/%s/%dx%dx%d", kind, dtype,
                             shape.sources, shape.rows, shape.keys),
             [=, &setup](benchmark::State& state) {
               AttentionOp(state, setup, *arena, kv_dtype, shape, cold_bytes);
             });
  };
  for (const int sources : {1, 32, 128}) {
    for (const int keys : {32, 512}) {
      attention("decode", {sources, 1, keys}, setup.cold_bytes);
    }
  }
  attention("beam4", {32, 4, 32}, setup.cold_bytes);
  // Keys and values have just been written.
  for (const Shape& shape :
       {Shape{32, 32, 32}, {4, 256, 256}, {1, 4096, 4096}}) {
    attention("encode", shape, 0);
  }
  for (const auto& [sources, tokens] : {std::pair(128, 1), {4, 256}}) {
    Register(absl::StrFormat("write_kv/%s/%dx%d", dtype, sources, tokens),
             [=, &setup, sources = sources,
              tokens = tokens](benchmark::State& state) {
               WriteKvOp(state, setup, *arena, kv_dtype, sources, tokens);
             });
  }
  Register(absl::StrCat("copy_kv/", dtype),
           [=, &setup](benchmark::State& state) {
             CopyKvOp(state, setup, *arena, kv_dtype);
           });
}

}  // namespace

void RegisterAttention(const Setup& setup) {
  const auto arena = std::make_shared<Arena>();
  for (const KvType kv_dtype : {KvType::kF32, KvType::kBf16, KvType::kInt8}) {
    RegisterOps(setup, arena, kv_dtype);
  }
}

}  // namespace attend
