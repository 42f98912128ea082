#ifndef ATTEND_ENGINE_RUNTIME_TRANSFORMER_CONTEXT_H_
#define ATTEND_ENGINE_RUNTIME_TRANSFORMER_CONTEXT_H_

#include <optional>
#include <vector>

#include "engine/api/engine.h"
#include "engine/cache/block_pool.h"
#include "engine/ops/attention/attention.h"
#include "engine/ops/attention/kv_layout.h"
#include "engine/ops/attention/kv_store.h"
#include "engine/ops/exec/exec_context.h"
#include "engine/ops/logits/logits_view.h"
#include "engine/runtime/transformer_engine.h"
#include "engine/runtime/transformer_sequence.h"
#include "engine/transformer/activations.h"
#include "engine/transformer/encode_buffer.h"
#include "engine/transformer/encode_share.h"
#include "engine/transformer/head.h"
#include "engine/transformer/transformer.h"

namespace attend {

// A piece of the plan.
struct TransformerEngine::Part {
  TransformerSequence* sequence;
  int rows;
};

// Logits that a sequence wants: `rows` entries of wanted_rows from `first`. A
// target to score may be cut into several, all but the last of kMaxLogitsRows,
// so that one group never holds two of a sequence.
struct TransformerEngine::Wanted {
  TransformerSequence* sequence;
  int first;
  int rows;
};

// A vector that an encoder's task reads.
struct TransformerEngine::Vector {
  TransformerSequence* sequence;
  int index;
};

// All memory of one worker.
class TransformerEngine::Context : public EngineContext {
 public:
  Context(Compute& compute, const Transformer& transformer,
          const KvLayout& kv_layout, const EngineOptions& options)
      : exec(compute, transformer.primitives()),
        pool(kv_layout, options.kv_cache_bytes),
        activations(transformer.spec(), transformer.dtype(),
                    options.max_step_rows, compute.team().size()),
        head_buffer(transformer.head_width()) {
    const int rows = options.max_step_rows;
    if (transformer.encodes()) {
      encode_buffer.emplace(
          transformer.encoder_kv_layout(),
          // One source of the longest kind, and a step of others.
          options.max_source_tokens + rows, transformer.spec().hidden,
          transformer.encoder_query_width());
    }
    vectors.reserve(kMaxHeadRows);
    encoding.reserve(rows);
    computing.reserve(rows);
    encodes.reserve(rows);
    ids.reserve(rows);
    positions.reserve(rows);
    lengths.reserve(rows);
    writes.reserve(rows);
    self_pieces.reserve(rows);
    cross_pieces.reserve(rows);
    wanted.reserve(rows);
    wanted_rows.reserve(rows);
    needs.reserve(kMaxLogitsRows);
    views.reserve(kMaxLogitsRows);
  }

  int total_blocks() const override { return pool.total_blocks(); }
  int free_blocks() const override { return pool.free_blocks(); }
  int total_encode_rows() const override {
    return encode_buffer ? encode_buffer->total_rows() : 0;
  }
  int free_encode_rows() const override {
    return encode_buffer ? encode_buffer->free_rows() : 0;
  }

  StepCounts counts() const override { return step_counts; }

  ExecContext exec;
  BlockPool pool;
  StepCounts step_counts;
  std::optional<EncodeBuffer> encode_buffer;  // if there is an encoder
  Activations activations;
  HeadBuffer head_buffer;
  // Lists of one step; reserved, and cleared by the next step.
  std::vector<Part> encoding;
  std::vector<Part> computing;
  std::vector<EncodePiece> encodes;
  std::vector<Vector> vectors;
  std::vector<int> ids;
  std::vector<int> positions;
  std::vector<int> lengths;
  std::vector<KvWrite> writes;
  std::vector<AttentionPiece> self_pieces;
  std::vector<AttentionPiece> cross_pieces;
  std::vector<Wanted> wanted;
  std::vector<int> wanted_rows;
  std::vector<LogitsNeed> needs;
  std::vector<LogitsView> views;
};

}  // namespace attend

#endif  // ATTEND_ENGINE_RUNTIME_TRANSFORMER_CONTEXT_H_
