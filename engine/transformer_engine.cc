#include "engine/transformer_engine.h"

#include <algorithm>
#include <atomic>
#include <numeric>
#include <utility>

#include "absl/strings/str_format.h"
#include "engine/tensor/check.h"
#include "engine/tensor/status_macros.h"

namespace attend {
namespace {

absl::Status CheckRange(const char* name, int64_t value, int64_t low,
                        int64_t high) {
  if (value >= low && value <= high) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrFormat(
      "%s is %d, limits are %d and %d", name, value, low, high));
}

}  // namespace

DType DefaultKvCacheDType(DType dtype) { return dtype; }

absl::Status EngineOptions::Validate() const {
  RETURN_IF_ERROR(CheckRange("max_batch_tokens", max_step_rows, 16, 1 << 16));
  RETURN_IF_ERROR(
      CheckRange("max_source_tokens", max_source_tokens, 1, 1 << 20));
  return CheckRange("max_beams", max_beams, 1, kMaxLogitsRows);
}

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

// All memory of one worker.
class TransformerEngine::Context : public EngineContext {
 public:
  Context(const Transformer& transformer, const KvLayout& kv_layout,
          const EngineOptions& options, int members)
      : pool(kv_layout, options.kv_cache_bytes),
        encode_buffer(transformer.encoder_kv_layout(),
                      // One source of the longest kind, and a step of others.
                      options.max_source_tokens + options.max_step_rows,
                      transformer.spec().hidden,
                      transformer.encoder_query_width()),
        activations(transformer.spec(), transformer.dtype(),
                    options.max_step_rows, transformer.vocab(), members) {
    const int rows = options.max_step_rows;
    encoding.reserve(rows);
    computing.reserve(rows);
    encodes.reserve(rows);
    ids.reserve(rows);
    positions.reserve(rows);
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
  int total_encode_rows() const override { return encode_buffer.total_rows(); }
  int free_encode_rows() const override { return encode_buffer.free_rows(); }

  BlockPool pool;
  EncodeBuffer encode_buffer;
  Activations activations;
  // Lists of one step; reserved, and cleared by the next step.
  std::vector<Part> encoding;
  std::vector<Part> computing;
  std::vector<EncodePiece> encodes;
  std::vector<int> ids;
  std::vector<int> positions;
  std::vector<KvWrite> writes;
  std::vector<AttentionPiece> self_pieces;
  std::vector<AttentionPiece> cross_pieces;
  std::vector<Wanted> wanted;
  std::vector<int> wanted_rows;
  std::vector<LogitsNeed> needs;
  std::vector<LogitsView> views;
};

TransformerEngine::TransformerEngine(Compute& compute,
                                     std::unique_ptr<Transformer> transformer,
                                     std::vector<std::string> token_texts,
                                     ModelInfo info,
                                     const EngineOptions& options)
    : compute_(compute),
      transformer_(std::move(transformer)),
      token_texts_(std::move(token_texts)),
      info_(std::move(info)),
      options_(options),
      limits_{.vocab = transformer_->vocab(),
              .max_target_tokens =
                  transformer_->spec().decoder->embedding.max_positions,
              .max_beams = options.max_beams},
      kv_layout_(
          transformer_->decoder_kv_layout(options.kv_cache_dtype.value_or(
              DefaultKvCacheDType(transformer_->dtype())))),
      pool_blocks_(
          static_cast<int>(options.kv_cache_bytes / kv_layout_.block_bytes())) {
  info_.dtype = std::string(DTypeName(transformer_->dtype()));
  info_.source_vocab = transformer_->spec().encoder->embedding.vocab;
  info_.target_vocab = limits_.vocab;
  info_.max_source_tokens = options_.max_source_tokens;
  info_.max_target_tokens = limits_.max_target_tokens;
  info_.max_beams = limits_.max_beams;
  info_.max_step_rows = options_.max_step_rows;
}

absl::StatusOr<std::unique_ptr<TransformerEngine>> TransformerEngine::Create(
    Compute& compute, std::unique_ptr<Transformer> transformer,
    std::vector<std::string> token_texts, ModelInfo info,
    const EngineOptions& options) {
  RETURN_IF_ERROR(options.Validate());
  ATTEND_CHECK(static_cast<int>(token_texts.size()) == transformer->vocab());
  EngineOptions limited = options;
  limited.max_source_tokens =
      std::min(options.max_source_tokens,
               transformer->spec().encoder->embedding.max_positions);
  std::unique_ptr<TransformerEngine> engine(
      new TransformerEngine(compute, std::move(transformer),
                            std::move(token_texts), std::move(info), limited));
  if (engine->pool_blocks_ < 2) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "kv_cache_bytes is %d, one request needs at least two blocks of %d "
        "bytes",
        options.kv_cache_bytes, engine->kv_layout_.block_bytes()));
  }
  compute.ReserveScratch(engine->transformer_->ScratchFloats());
  return engine;
}

std::unique_ptr<EngineContext> TransformerEngine::NewContext() const {
  return std::make_unique<Context>(*transformer_, kv_layout_, options_,
                                   compute_.team().size());
}

absl::Status TransformerEngine::CheckSource(const SourceTokens& source) const {
  const int rows = static_cast<int>(source.ids.size());
  if (rows < 1 || rows > options_.max_source_tokens) {
    return absl::InvalidArgumentError(
        absl::StrFormat("source has %d tokens, limits are 1 and %d "
                        "(max_source_tokens)",
                        rows, options_.max_source_tokens));
  }
  for (int id : source.ids) {
    if (id < 0 || id >= info_.source_vocab) {
      return absl::InvalidArgumentError(
          absl::StrFormat("source token id is %d, limits are 0 and %d", id,
                          info_.source_vocab - 1));
    }
  }
  if (source.positions.empty()) return absl::OkStatus();
  if (source.positions.size() != source.ids.size()) {
    return absl::InvalidArgumentError(
        absl::StrFormat("source has %d tokens but %d positions", rows,
                        source.positions.size()));
  }
  const int max_positions =
      transformer_->spec().encoder->embedding.max_positions;
  for (int position : source.positions) {
    if (position < 0 || position >= max_positions) {
      return absl::InvalidArgumentError(
          absl::StrFormat("source position is %d, limits are 0 and %d",
                          position, max_positions - 1));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<Sequence>> TransformerEngine::NewSequence(
    EngineRequest request) const {
  RETURN_IF_ERROR(CheckSource(request.source));
  TransformerSequence::Parts parts;
  parts.source = std::move(request.source);
  if (parts.source.positions.empty()) {
    parts.source.positions.resize(parts.source.ids.size());
    std::iota(parts.source.positions.begin(), parts.source.positions.end(), 0);
  }
  if (const auto* task = std::get_if<GenerateTask>(&request.task)) {
    const GenerationParams& params = task->params;
    RETURN_IF_ERROR(ValidateParams(params, limits_));
    parts.search = MakeSearch(params, limits_.vocab, token_texts_);
    // The last new token is never computed.
    parts.max_target_tokens =
        static_cast<int>(params.forced_prefix.size()) + params.max_new_tokens;
    parts.max_hypotheses =
        std::max(params.num_beams, params.num_return_sequences);
  } else {
    ScoreTask& score = std::get<ScoreTask>(request.task);
    RETURN_IF_ERROR(ValidateTarget(score.target, score.top_log_probs, limits_));
    parts.max_target_tokens = static_cast<int>(score.target.size());
    parts.scored_prompt.push_back(info_.generation.decoder_start_id);
    parts.scored_prompt.insert(parts.scored_prompt.end(), score.target.begin(),
                               score.target.end() - 1);
    parts.scorer =
        std::make_unique<Scorer>(std::move(score.target), score.top_log_probs);
  }
  auto sequence = std::make_unique<TransformerSequence>(
      *transformer_, kv_layout_.block_tokens, std::move(parts));
  if (sequence->max_blocks() > pool_blocks_) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "request needs up to %d KV blocks, the pool has %d (kv_cache_bytes); "
        "fewer beams, samples or new tokens need less",
        sequence->max_blocks(), pool_blocks_));
  }
  return sequence;
}

absl::Status TransformerEngine::Step(EngineContext& engine_context,
                                     const StepPlan& plan) const {
  Context& context = static_cast<Context&>(engine_context);
  for (Sequence* sequence : plan.preempted) {
    static_cast<TransformerSequence*>(sequence)->Preempt();
  }
  context.encoding.clear();
  context.computing.clear();
  for (const Piece& piece : plan.pieces) {
    const Phase phase = piece.sequence->Next().phase;
    ATTEND_CHECK(phase != Phase::kDone && piece.rows > 0);
    (phase == Phase::kEncode ? context.encoding : context.computing)
        .push_back(
            {static_cast<TransformerSequence*>(piece.sequence), piece.rows});
  }
  RETURN_IF_ERROR(RunRows(context));
  return RunEncodes(context);
}

absl::Status TransformerEngine::RunEncodes(Context& context) const {
  if (context.encoding.empty()) return absl::OkStatus();
  context.encodes.clear();
  for (const auto& [sequence, rows] : context.encoding) {
    context.encodes.push_back(
        sequence->PlanEncode(context.encode_buffer, context.pool, rows));
  }
  RETURN_IF_ERROR(transformer_->Encode(compute_, context.activations,
                                       absl::MakeSpan(context.encodes)));
  for (const auto& [sequence, rows] : context.encoding) {
    sequence->FinishEncode();
  }
  return absl::OkStatus();
}

absl::Status TransformerEngine::RunRows(Context& context) const {
  if (context.computing.empty()) return absl::OkStatus();
  context.ids.clear();
  context.positions.clear();
  context.writes.clear();
  context.self_pieces.clear();
  context.cross_pieces.clear();
  context.wanted.clear();
  context.wanted_rows.clear();
  for (const auto& [sequence, rows] : context.computing) {
    const int wanted =
        sequence->PlanRows(rows, {.ids = context.ids,
                                  .positions = context.positions,
                                  .writes = context.writes,
                                  .self_pieces = context.self_pieces,
                                  .cross_pieces = context.cross_pieces});
    const int end = static_cast<int>(context.ids.size());
    int row = end - wanted;
    while (row < end) {
      const int part = std::min(end - row, kMaxLogitsRows);
      context.wanted.push_back(
          {sequence, static_cast<int>(context.wanted_rows.size()), part});
      for (int i = 0; i < part; ++i) context.wanted_rows.push_back(row++);
    }
  }
  ATTEND_CHECK(static_cast<int>(context.ids.size()) <= options_.max_step_rows);
  RETURN_IF_ERROR(transformer_->Decode(compute_, context.activations,
                                       {.kv_layout = &context.pool.layout(),
                                        .ids = context.ids,
                                        .positions = context.positions,
                                        .writes = context.writes,
                                        .self_pieces = context.self_pieces,
                                        .cross_pieces = context.cross_pieces}));
  RETURN_IF_ERROR(TakeLogits(context));
  for (const Wanted& wanted : context.wanted) wanted.sequence->ReorderTables();
  return absl::OkStatus();
}

absl::Status TransformerEngine::TakeLogits(Context& context) const {
  const size_t count = context.wanted.size();
  for (size_t first = 0; first < count;) {
    size_t last = first;
    int rows = 0;
    while (last < count && rows + context.wanted[last].rows <= kMaxLogitsRows) {
      rows += context.wanted[last++].rows;
    }
    RETURN_IF_ERROR(TakeGroup(
        context, absl::MakeSpan(context.wanted).subspan(first, last - first),
        rows));
    first = last;
  }
  return absl::OkStatus();
}

absl::Status TransformerEngine::TakeGroup(Context& context,
                                          absl::Span<const Wanted> group,
                                          int rows) const {
  const int first = group.front().first;
  context.needs.clear();
  for (const Wanted& wanted : group) {
    for (int row = 0; row < wanted.rows; ++row) {
      context.needs.push_back(wanted.sequence->need(row));
    }
  }
  RETURN_IF_ERROR(transformer_->Logits(
      compute_, context.activations,
      absl::MakeSpan(context.wanted_rows).subspan(first, rows), context.needs));
  context.views.clear();
  for (int row = 0; row < rows; ++row) {
    context.views.push_back(context.activations.logits().view(row));
  }
  // Sequences cost differently: whoever is free takes the next one.
  std::atomic<size_t> next = 0;
  compute_.team().Run([&](int) {
    for (size_t i = next++; i < group.size(); i = next++) {
      group[i].sequence->TakeLogits(
          absl::MakeConstSpan(context.views)
              .subspan(group[i].first - first, group[i].rows));
    }
  });
  return absl::OkStatus();
}

}  // namespace attend
