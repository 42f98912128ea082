#include "engine/runtime/encoder_task.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "absl/strings/str_format.h"
#include "engine/ops/logits/logits_buffer.h"
#include "engine/tensor/check.h"
#include "engine/tensor/finite.h"
#include "engine/transformer/pooling.h"

namespace attend {
namespace {

int WidthAfter(const std::vector<DenseSpec>& layers, int width) {
  return layers.empty() ? width : layers.back().out;
}

}  // namespace

EncoderTask::EncoderTask(Layers layers, int vectors, int width, int top)
    : layers_(layers), vectors_(vectors), top_(top), scores_(top) {
  if (top == 0) {
    output_.width = width;
    output_.values.resize(static_cast<size_t>(vectors) * width);
    return;
  }
  output_.choices.resize(vectors);
  for (ChoiceOutput& choice : output_.choices) choice.top.reserve(top);
}

absl::StatusOr<std::unique_ptr<EncoderTask>> EncoderTask::Create(
    const EmbedTask& task, const TransformerSpec& spec, int rows) {
  if (task.per_token) {
    return std::unique_ptr<EncoderTask>(
        new EncoderTask(Layers::kNone, rows, spec.hidden, 0));
  }
  const int width = spec.EmbedWidth();
  if (task.dimensions < 0 || task.dimensions > width) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "dimensions is %d, limits are 0 and %d", task.dimensions, width));
  }
  if (!spec.embed.pools_prompt && task.prompt_tokens >= rows) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "the prompt has %d tokens of %d, but the model pools the tokens after "
        "it only",
        task.prompt_tokens, rows));
  }
  std::unique_ptr<EncoderTask> embed(new EncoderTask(
      Layers::kEmbed, 1, task.dimensions > 0 ? task.dimensions : width, 0));
  embed->poolings_ = spec.embed.poolings;
  if (!spec.embed.pools_prompt) embed->first_pooled_ = task.prompt_tokens;
  embed->normalize_ = task.normalize.value_or(spec.embed.normalize);
  return embed;
}

absl::StatusOr<std::unique_ptr<EncoderTask>> EncoderTask::Create(
    const ClassifyTask&, const TransformerSpec& spec, int rows) {
  if (!spec.head || spec.head->kind == HeadKind::kMaskedLm) {
    return absl::InvalidArgumentError("the model has no head that classifies");
  }
  const bool tokens = spec.head->kind == HeadKind::kTokens;
  std::unique_ptr<EncoderTask> classify(
      new EncoderTask(Layers::kHead, tokens ? rows : 1,
                      WidthAfter(spec.head->layers, spec.hidden), 0));
  if (!tokens) classify->poolings_ = {spec.head->pooling};
  return classify;
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
  std::unique_ptr<EncoderTask> fill(new EncoderTask(
      Layers::kHead, static_cast<int>(task.rows.size()), 0, task.top));
  fill->rows_ = task.rows;
  return fill;
}

void EncoderTask::Read(const EncodeState& state, int i, int hidden,
                       float* dst) const {
  if (!poolings_.empty()) {
    return Pool(state, poolings_, first_pooled_, hidden, dst);
  }
  const int row = rows_.empty() ? i : rows_[i];
  std::copy_n(state.hidden(row, hidden), hidden, dst);
}

void EncoderTask::Take(int i, const float* values) {
  const int width = output_.width;
  float* const row = output_.values.data() + static_cast<size_t>(i) * width;
  std::copy_n(values, width, row);
  finite_ &= AllFinite({row, static_cast<size_t>(width)});
  if (normalize_) NormalizeLength(row, width);
  output_.finished = ++taken_ == vectors_;
}

void EncoderTask::TakeLogits(int i, const LogitsView& logits) {
  finite_ &= logits.finite();
  logits.Top(absl::MakeSpan(scores_));
  const float log_sum = logits.LogSumExp();
  for (const TokenScore& score : scores_) {
    output_.choices[i].top.push_back(
        {.id = score.id, .log_prob = score.score - log_sum});
  }
  output_.finished = ++taken_ == vectors_;
}

}  // namespace attend
