#include "tests/bench/ops/decoder_step.h"

#include "engine/families/load_family.h"
#include "engine/json/json_file.h"
#include "engine/ops/attention/kv_layout.h"
#include "engine/tensor/status_macros.h"
#include "tests/bench/engine/matmul_replay.h"

namespace attend {
namespace {

constexpr int kSourceTokens = 30;

}  // namespace

absl::StatusOr<std::unique_ptr<DecoderStep>> DecoderStep::Load(
    Compute& compute, const ServerOptions& options, ComputeType dtype) {
  auto step = std::make_unique<DecoderStep>();
  step->dtype_ = dtype;
  const ModelSource& source = options.models.front();
  ASSIGN_OR_RETURN(const JsonFile config,
                   JsonFile::Load(source.directory + "/config.json"));
  ASSIGN_OR_RETURN(const Family family, LoadFamily(config));
  step->spec_ = family.spec;
  EngineOptions engine = options.engine;
  engine.dtype = dtype;
  engine.prompt_lookup = false;  // drafts would be rows, too
  step->kv_dtype_ = engine.kv_cache_dtype.value_or(DefaultKvType(dtype));
  ASSIGN_OR_RETURN(step->model_,
                   LoadModel(compute, source.directory, source.name, engine));
  step->loop_ = std::make_unique<EngineLoop>(
      *step->model_.engine, BatcherOptions{.max_rows = engine.max_step_rows});
  return step;
}

absl::Status DecoderStep::Start(int rows) {
  loop_->Stop();
  rows_ = rows;
  RETURN_IF_ERROR(
      loop_->Start(SteadyRequests(*model_.engine, rows, 1, kSourceTokens)));
  tokens_before_ = loop_->RunningTokens();
  return absl::OkStatus();
}

absl::Status DecoderStep::Run() { return loop_->Decode(); }

double DecoderStep::bytes() const {
  const AttentionSpec& attention = spec_.decoder->layers[0].self_attention;
  const KvLayout layout = {
      .layers = static_cast<int>(spec_.decoder->layers.size()),
      .kv_heads = attention.kv_heads,
      .head_dim = attention.head_dim,
      .dtype = kv_dtype_};
  const double targets =
      static_cast<double>(tokens_before_ + loop_->RunningTokens()) / 2;
  return PackedBytes(dtype_, DecodeWeights(spec_)) +
         (rows_ * kSourceTokens + targets) *
             static_cast<double>(layout.block_bytes()) / layout.block_tokens;
}

double DecoderStep::flop() const { return 2 * DecodeWeights(spec_) * rows_; }

}  // namespace attend
