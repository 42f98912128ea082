#include "engine/runtime/encoder_task.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "absl/strings/str_format.h"
#include "engine/ops/logits/logits_buffer.h"
#include "engine/tensor/check.h"
#include "engine/tensor/finite.h"
#include "engine/tensor/status_macros.h"
#include "engine/transformer/pooling.h"
#include "engine/transformer/sparse.h"

namespace attend {
namespace {

int WidthAfter(const std::vector<DenseSpec>& layers, int width) {
  return layers.empty() ? width : layers.back().out;
}

absl::StatusOr<EncoderTask::Part> PooledPart(const EmbedTask& task,
                                             const TransformerSpec& spec,
                                             int rows) {
  const EmbedSpec& embed = spec.Route(task.route);
  const int width = spec.EmbedWidth(task.route);
  if (!embed.pooled) {
    return absl::InvalidArgumentError(
        "the model has no vector of a whole text");
  }
  if (task.dimensions < 0 || task.dimensions > width) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "dimensions is %d, limits are 0 and %d", task.dimensions, width));
  }
  EncoderTask::Part part = {
      .layers = EncoderTask::Layers::kEmbed,
      .route = task.route,
      .width = task.dimensions > 0 ? task.dimensions : width,
      .poolings = embed.poolings,
      .normalize = task.normalize.value_or(embed.normalize)};
  if (embed.pools_prompt) return part;
  if (task.prompt_tokens >= rows) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "the prompt has %d tokens of %d, but the model pools the tokens after "
        "it only",
        task.prompt_tokens, rows));
  }
  part.first_pooled = task.prompt_tokens;
  return part;
}

}  // namespace

EncoderTask::EncoderTask(std::vector<Part> parts, int top)
    : parts_(std::move(parts)), top_(top), scores_(top) {
  size_t values = 0;
  for (Part& part : parts_) {
    vectors_ += part.vectors;
    part.begin = values;
    values += part.folds ? part.width : size_t{1} * part.vectors * part.width;
  }
  if (top == 0) {
    output_.width = parts_.front().width;
    if (parts_.front().pools_results) pooled_.resize(output_.width);
    output_.values.resize(values);
    return;
  }
  output_.choices.resize(vectors_);
  for (ChoiceOutput& choice : output_.choices) choice.top.reserve(top);
}

absl::StatusOr<std::unique_ptr<EncoderTask>> EncoderTask::Create(
    const EmbedTask& task, const TransformerSpec& spec, int rows) {
  if (task.route < 0 || task.route >= spec.Routes()) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "route is %d, must be in [0, %d)", task.route, spec.Routes()));
  }
  std::vector<Part> parts;
  if (task.per_token) {
    parts.push_back({.vectors = rows, .width = spec.hidden});
    return std::unique_ptr<EncoderTask>(new EncoderTask(std::move(parts), 0));
  }
  const EmbedSpec& embed = spec.Route(task.route);
  if (task.pooled) {
    ASSIGN_OR_RETURN(parts.emplace_back(), PooledPart(task, spec, rows));
  }
  if (task.sparse) {
    if (!embed.sparse) {
      return absl::InvalidArgumentError("the model has no sparse weights");
    }
    Part part = {.vectors = rows, .width = 1};
    const bool folds = embed.sparse->layers.empty();
    part.layers = folds ? Layers::kHead : Layers::kSparse;
    if (folds) part.width = spec.LogitsVocab();
    if (folds) part.folds = embed.sparse;
    parts.push_back(std::move(part));
  }
  if (task.token_vectors) {
    if (!embed.tokens) {
      return absl::InvalidArgumentError(
          "the model has no vectors of tokens to compare");
    }
    parts.push_back({.layers = Layers::kTokens,
                     .vectors = rows,
                     .width = spec.TokenWidth()});
  }
  if (parts.empty()) {
    return absl::InvalidArgumentError("no kind of embedding is asked for");
  }
  return std::unique_ptr<EncoderTask>(new EncoderTask(std::move(parts), 0));
}

absl::StatusOr<std::unique_ptr<EncoderTask>> EncoderTask::Create(
    const ClassifyTask&, const TransformerSpec& spec, int rows) {
  if (!spec.head || spec.head->kind == HeadKind::kMaskedLm) {
    return absl::InvalidArgumentError("the model has no head that classifies");
  }
  const bool each = ReadsTokens(spec.head->kind) || spec.head->pools_outputs;
  Part part = {.layers = Layers::kHead,
               .vectors = each ? rows : 1,
               .width = spec.head->yes_id >= 0
                            ? 1
                            : WidthAfter(spec.head->layers, spec.hidden)};
  if (!each) part.poolings = {spec.head->pooling};
  if (spec.head->pools_outputs) part.pools_results = spec.head->pooling;
  return std::unique_ptr<EncoderTask>(new EncoderTask({std::move(part)}, 0));
}

absl::StatusOr<std::unique_ptr<EncoderTask>> EncoderTask::Create(
    const FillMaskTask& task, const TransformerSpec& spec, int rows) {
  if (!spec.head || spec.head->kind != HeadKind::kMaskedLm) {
    return absl::InvalidArgumentError("the model has no head that fills masks");
  }
  const int most = std::min(LogitsBuffer::kMaxTop, spec.LogitsVocab());
  if (task.top < 1 || task.top > most) {
    return absl::InvalidArgumentError(
        absl::StrFormat("top is %d, limits are 1 and %d", task.top, most));
  }
  if (task.rows.empty()) {
    return absl::InvalidArgumentError(
        "rows is empty, must have at least one mask");
  }
  for (const int row : task.rows) {
    if (row < 0 || row >= rows) {
      return absl::InvalidArgumentError(absl::StrFormat(
          "a mask is at token %d, limits are 0 and %d", row, rows - 1));
    }
  }
  Part part = {.layers = Layers::kHead,
               .vectors = static_cast<int>(task.rows.size()),
               .rows = task.rows};
  return std::unique_ptr<EncoderTask>(
      new EncoderTask({std::move(part)}, task.top));
}

void EncoderTask::Read(const EncodeState& state, const Part& part, int i,
                       int hidden, float* dst) const {
  if (!part.poolings.empty()) {
    return Pool(state, part.poolings, part.first_pooled, hidden, dst);
  }
  const int row = part.rows.empty() ? i : part.rows[i];
  std::copy_n(state.hidden(row, hidden), hidden, dst);
}

void EncoderTask::CountTaken() { output_.finished = ++taken_ == vectors_; }

void EncoderTask::Take(const Part& part, int i, const float* values) {
  float* const row =
      output_.values.data() + part.begin + size_t{1} * i * part.width;
  std::copy_n(values, part.width, row);
  finite_ &= AllFinite({row, static_cast<size_t>(part.width)});
  if (part.normalize) NormalizeLength(row, part.width);
  CountTaken();
  if (output_.finished && part.pools_results) PoolResults(part);
}

void EncoderTask::PoolResults(const Part& part) {
  Pooler pooler(*part.pools_results, part.width, pooled_.data());
  for (int i = 0; i < part.vectors; ++i) {
    pooler.Add(output_.values.data() + size_t{1} * i * part.width, i);
  }
  pooler.Finish();
  std::copy(pooled_.begin(), pooled_.end(), output_.values.begin());
  output_.values.resize(part.width);
}

void EncoderTask::Fold(const Part& part, const LogitsView& logits, Range ids) {
  const size_t count = ids.end - ids.begin;
  FoldLogits(
      *part.folds, logits.Row().subspan(ids.begin, count),
      absl::MakeSpan(output_.values).subspan(part.begin + ids.begin, count));
}

void EncoderTask::TakeLogits(const Part& part, int i,
                             const LogitsView& logits) {
  finite_ &= logits.finite();
  if (part.folds) {
    CountTaken();
    if (output_.finished) {
      FinishWeights(
          *part.folds,
          absl::MakeSpan(output_.values).subspan(part.begin, part.width));
    }
    return;
  }
  logits.Top(absl::MakeSpan(scores_));
  const float log_sum = logits.LogSumExp();
  for (const TokenScore& score : scores_) {
    output_.choices[i].top.push_back(
        {.id = score.id, .log_prob = score.score - log_sum});
  }
  CountTaken();
}

}  // namespace attend
