#include "tests/engine/transformer/transformer_outputs.h"

#include <algorithm>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "engine/cache/block_pool.h"
#include "engine/cache/block_table.h"
#include "engine/checkpoint/checkpoint.h"
#include "engine/ops/exec/exec_context.h"
#include "engine/transformer/head.h"
#include "engine/transformer/pooling.h"
#include "engine/transformer/sparse.h"
#include "engine/transformer/transformer.h"
#include "gtest/gtest.h"
#include "tests/engine/transformer/naive_transformer.h"
#include "tests/engine/transformer/slot_checkpoint.h"
#include "tests/engine/transformer/transformer_fixture.h"

namespace attend {
namespace {

constexpr int kSource = 21;
constexpr int kTarget = 20;
constexpr int kGiven = 17;  // tokens of the target that came with the request
constexpr int kMaxRows = 24;

NaiveTransformer::Input SourceOf(const EmbeddingSpec& embedding) {
  NaiveTransformer::Input input = {.ids =
                                       RandomIds(kSource, embedding.vocab, 1)};
  // One that may not be counted.
  input.ids[3] = input.ids[9] = 7;
  if (embedding.token_types > 0) {
    for (int i = 0; i < kSource; ++i) {
      input.types.push_back(i % embedding.token_types);
    }
  }
  return input;
}

std::vector<int> TargetOf(const EmbeddingSpec& embedding) {
  return RandomIds(kTarget, embedding.vocab, 6);
}

std::vector<int> UpTo(int n) {
  std::vector<int> numbers(n);
  std::iota(numbers.begin(), numbers.end(), 0);
  return numbers;
}

Rows RowsOf(const Matrix& m) {
  Rows rows;
  for (int r = 0; r < m.rows; ++r) {
    rows.emplace_back(m.row(r), m.row(r) + m.cols);
  }
  return rows;
}

// The name of an output of a route.
std::string Named(const char* name, int route) {
  return route == 0 ? name : absl::StrCat(name, " of route ", route);
}

class EngineRun {
 public:
  EngineRun(Compute& compute, const TransformerSpec& spec,
            const TensorsBySlot& weights, ComputeType dtype)
      : spec_(spec),
        activations_(spec, {dtype, dtype}, kMaxRows, compute.team().size()) {
    const SlotCheckpoint files(weights);
    auto checkpoint = Checkpoint::Open(files.directory());
    EXPECT_TRUE(checkpoint.ok()) << checkpoint.status();
    Weights slots(*checkpoint, files.names());
    auto transformer = Transformer::Load(
        compute, spec, slots, {.dtype = dtype, .max_rows = kMaxRows});
    EXPECT_TRUE(transformer.ok()) << transformer.status();
    EXPECT_TRUE(slots.CheckAllRead().ok()) << slots.CheckAllRead();
    transformer_ = *std::move(transformer);
    context_.emplace(compute, transformer_->primitives());
    if (spec.decoder) {
      pool_.emplace(transformer_->decoder_kv_layout(KvType::kF32), 1 << 20);
      cross_.emplace(*pool_, kSource);
      target_.emplace(*pool_, kTarget);
      if (spec.encoder) cross_->PrepareAppend(kSource);
    }
  }

  Outputs All() {
    Outputs outputs;
    if (spec_.encoder) {
      Encode(3);
      const Rows in_pieces = Hidden();
      Encode(1000);
      outputs["encoder"] = Hidden();
      EXPECT_EQ(outputs["encoder"], in_pieces);
      for (int route = 0; route < spec_.Routes(); ++route) {
        const EmbedSpec& embed = spec_.Route(route);
        if (embed.pooled) outputs[Named("vector", route)] = Vector(route);
        if (embed.sparse) outputs[Named("sparse", route)] = Sparse(route);
      }
      if (spec_.embed.tokens) outputs["tokens"] = Tokens();
      if (spec_.head) outputs["head"] = HeadRows();
    }
    if (spec_.decoder && spec_.generates) outputs["logits"] = Decode();
    return outputs;
  }

 private:
  void Encode(int rows) {
    input_ = SourceOf(spec_.encoder->embedding);
    const int uncounted = spec_.encoder->embedding.uncounted_id;
    int counted = 0;
    table_positions_.clear();
    for (const int id : input_.ids) {
      table_positions_.push_back(id == uncounted ? -1 : counted++);
    }
    if (uncounted < 0) table_positions_.clear();
    buffer_.emplace(transformer_->encoder_kv_layout(), kSource, spec_.hidden,
                    transformer_->encoder_query_width());
    state_ = std::make_unique<EncodeState>(
        EncodeState::Tokens{input_.ids, positions_, table_positions_,
                            input_.types},
        8);
    state_->Start(*buffer_);
    while (!transformer_->Encoded(*state_)) {
      EncodePiece piece = {
          .state = state_.get(), .cross_blocks = {}, .rows = rows};
      if (spec_.decoder) {
        piece.cross_blocks = cross_->blocks();
        piece.cross_layout = &pool_->layout();
      }
      ASSERT_TRUE(
          transformer_->Encode(*context_, activations_, {&piece, 1}).ok());
    }
  }

  Rows Hidden() const {
    Rows rows;
    for (int r = 0; r < kSource; ++r) {
      const float* const row = state_->hidden(r, spec_.hidden);
      rows.emplace_back(row, row + spec_.hidden);
    }
    return rows;
  }

  // The layers of `head` over the pooled source, or over all its rows.
  Matrix Run(const Head& head, absl::Span<const Pooling> poolings, int first,
             HeadBuffer& buffer) {
    const int count = static_cast<int>(poolings.size());
    const Matrix src = buffer.rows(0, count == 0 ? kSource : 1,
                                   spec_.hidden * std::max(count, 1));
    if (count > 0) {
      Pool(*state_, poolings, first, spec_.hidden, src.data);
    } else {
      for (int r = 0; r < kSource; ++r) {
        std::copy_n(state_->hidden(r, spec_.hidden), spec_.hidden, src.row(r));
      }
    }
    const auto result = head.Run(*context_, buffer, src);
    EXPECT_TRUE(result.ok()) << result.status();
    return *result;
  }

  Rows Vector(int route) {
    HeadBuffer buffer(transformer_->head_width());
    const EmbedSpec& embed = spec_.Route(route);
    const Matrix vector = Run(transformer_->embed(route), embed.poolings,
                              embed.pools_prompt ? 0 : kPromptRows, buffer);
    if (embed.normalize) NormalizeLength(vector.data, vector.cols);
    return RowsOf(vector);
  }

  Rows Tokens() {
    HeadBuffer buffer(transformer_->head_width());
    return RowsOf(Run(transformer_->tokens(), {}, 0, buffer));
  }

  // Of the source's tokens, or of the vocabulary.
  Rows Sparse(int route) {
    const SparseSpec& sparse = *spec_.Route(route).sparse;
    if (sparse.layers.empty()) {
      const Rows logits = HeadRows();
      std::vector<float> weights(logits[0].size());
      for (const auto& row : logits) {
        FoldLogits(sparse, std::vector<float>(row.begin(), row.end()),
                   absl::MakeSpan(weights));
      }
      FinishWeights(sparse, absl::MakeSpan(weights));
      return {std::vector<double>(weights.begin(), weights.end())};
    }
    HeadBuffer buffer(transformer_->head_width());
    return RowsOf(Run(transformer_->sparse(), {}, 0, buffer));
  }

  Rows HeadRows() {
    HeadBuffer buffer(transformer_->head_width());
    const HeadSpec& head = *spec_.head;
    const Matrix rows =
        Run(transformer_->head(),
            head.kind == HeadKind::kSequence && !head.pools_outputs
                ? absl::MakeConstSpan(&head.pooling, 1)
                : absl::Span<const Pooling>(),
            0, buffer);
    if (head.pools_outputs) {
      std::vector<float> pooled(rows.cols);
      Pooler pooler(head.pooling, rows.cols, pooled.data());
      for (int r = 0; r < rows.rows; ++r) pooler.Add(rows.row(r), r);
      pooler.Finish();
      return {std::vector<double>(pooled.begin(), pooled.end())};
    }
    if (head.kind != HeadKind::kMaskedLm) return RowsOf(rows);
    const std::vector<LogitsNeed> needs(rows.rows, {.row = true});
    EXPECT_TRUE(
        transformer_->MaskedLogits(*context_, activations_, rows, needs).ok());
    return LogitsRows(rows.rows);
  }

  Rows LogitsRows(int count) {
    Rows rows;
    for (int r = 0; r < count; ++r) {
      const absl::Span<const float> row = activations_.logits().view(r).Row();
      rows.emplace_back(row.begin(), row.end());
    }
    return rows;
  }

  // Logits of what came in two parts, then of rows one by one.
  Rows Decode() {
    const std::vector<int> ids = TargetOf(spec_.decoder->embedding);
    Rows all;
    for (const int rows : {5, kGiven - 5, 1, 1, 1}) {
      for (auto& row :
           DecodeNext(absl::MakeConstSpan(ids).subspan(all.size(), rows))) {
        all.push_back(std::move(row));
      }
    }
    return all;
  }

  Rows DecodeNext(absl::Span<const int> ids) {
    const int rows = static_cast<int>(ids.size());
    const int first = target_->PrepareAppend(rows);
    std::vector<int> positions;
    std::vector<int> lengths;
    for (int position = first; position < first + rows; ++position) {
      positions.push_back(position);
      const RotarySpec* const rotary = spec_.decoder->RotaryByLength();
      if (rotary == nullptr) continue;
      lengths.push_back(rotary->LengthOf(position, kGiven, kTarget));
    }
    const KvWrite write = {.first_row = 0,
                           .rows = rows,
                           .blocks = target_->blocks(),
                           .first_token = first};
    const AttentionPiece self = {.first_row = 0,
                                 .rows = rows,
                                 .blocks = target_->blocks(),
                                 .keys = first + 1,
                                 .causal = true,
                                 .position = first};
    const AttentionPiece cross = {.first_row = 0,
                                  .rows = rows,
                                  .blocks = cross_->blocks(),
                                  .keys = kSource};
    DecodeRows decode = {.kv_layout = &pool_->layout(),
                         .ids = ids,
                         .positions = positions,
                         .lengths = lengths,
                         .writes = {&write, 1},
                         .self_pieces = {&self, 1},
                         .cross_pieces = {}};
    if (spec_.encoder) decode.cross_pieces = {&cross, 1};
    EXPECT_TRUE(transformer_->Decode(*context_, activations_, decode).ok());
    const std::vector<LogitsNeed> needs(rows, {.row = true});
    EXPECT_TRUE(
        transformer_->Logits(*context_, activations_, UpTo(rows), needs).ok());
    return LogitsRows(rows);
  }

  const TransformerSpec spec_;
  Activations activations_;
  std::unique_ptr<Transformer> transformer_;
  std::optional<ExecContext> context_;
  std::optional<BlockPool> pool_;
  std::optional<BlockTable> cross_;
  std::optional<BlockTable> target_;
  std::optional<EncodeBuffer> buffer_;
  const std::vector<int> positions_ = UpTo(kSource);
  NaiveTransformer::Input input_;
  std::vector<int> table_positions_;
  std::unique_ptr<EncodeState> state_;
};

}  // namespace

Outputs NaiveOutputs(const TransformerSpec& spec,
                     const TensorsBySlot& weights) {
  const NaiveTransformer naive(spec, weights);
  Outputs outputs;
  Rows encoded;
  if (spec.encoder) {
    const AttentionMask all = PaddingMask({kSource}, kSource, kSource);
    encoded = naive.Encode(SourceOf(spec.encoder->embedding), all);
    outputs["encoder"] = encoded;
    for (int route = 0; route < spec.Routes(); ++route) {
      const EmbedSpec& embed = spec.Route(route);
      if (embed.pooled) {
        outputs[Named("vector", route)] = naive.Vector(encoded, route);
      }
      if (embed.sparse) {
        outputs[Named("sparse", route)] = naive.Sparse(encoded, route);
      }
    }
    if (spec.embed.tokens) outputs["tokens"] = naive.Tokens(encoded);
    if (spec.head) outputs["head"] = naive.Head(encoded);
  }
  if (spec.decoder && spec.generates) {
    outputs["logits"] =
        naive.Decode(TargetOf(spec.decoder->embedding), encoded,
                     PaddingMask({kSource}, kTarget, kSource), kGiven);
  }
  return outputs;
}

Outputs EngineOutputs(Compute& compute, const TransformerSpec& spec,
                      const TensorsBySlot& weights, ComputeType dtype) {
  return EngineRun(compute, spec, weights, dtype).All();
}

}  // namespace attend
