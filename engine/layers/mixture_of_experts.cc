#include "engine/layers/mixture_of_experts.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>

#include "engine/compute/op_timer.h"
#include "engine/compute/range.h"
#include "engine/tensor/check.h"
#include "engine/tensor/status_macros.h"

namespace attend {
namespace {

void ApplySoftmax(absl::Span<float> scores) {
  const float most = *std::max_element(scores.begin(), scores.end());
  float sum = 0;
  for (float& score : scores) {
    score = std::exp(score - most);
    sum += score;
  }
  for (float& score : scores) score /= sum;
}

// The first `rows` rows from row `first` on.
Operand RowsOf(const Operand& operand, int first, int rows) {
  return {.dtype = operand.dtype,
          .data = operand.row(first),
          .rows = rows,
          .cols = operand.cols};
}

// Calls work(row) for all rows, which the members of the team divide.
template <typename Work>
void ForEachRow(ExecContext& context, int rows, Work work) {
  const int members = context.team().size();
  context.team().Run([&](int member) {
    const Range mine = Share(rows, member, members);
    for (int row = mine.begin; row < mine.end; ++row) work(row);
  });
}

}  // namespace

void ExpertChoices::Reserve(int max_rows, int chosen, int max_experts) {
  const size_t choices = static_cast<size_t>(max_rows) * chosen;
  experts.reserve(choices);
  weights.reserve(choices);
  places.reserve(choices);
  ends.reserve(max_experts + 1);
}

void ChooseExperts(absl::Span<float> scores, absl::Span<int> chosen) {
  ApplySoftmax(scores);
  const size_t most = chosen.size();
  size_t count = 0;
  for (size_t expert = 0; expert < scores.size(); ++expert) {
    size_t at = count;
    while (at > 0 && scores[expert] > scores[chosen[at - 1]]) --at;
    if (at == most) continue;
    count = std::min(count + 1, most);
    std::copy_backward(chosen.begin() + at, chosen.begin() + count - 1,
                       chosen.begin() + count);
    chosen[at] = static_cast<int>(expert);
  }
  std::sort(chosen.begin(), chosen.end());
}

absl::Status MixtureOfExperts::Run(ExecContext& context, Matrix src,
                                   const Operand& operand,
                                   const ExpertRoom& room, Matrix dst,
                                   const Epilogue& epilogue) const {
  ATTEND_CHECK(!epilogue.gated && epilogue.activation == Activation::kNone);
  RETURN_IF_ERROR(parts_.router.Run(context, OperandOf(src), room.scores));
  Choose(context, room);
  Gather(context, operand, room);
  RETURN_IF_ERROR(RunExperts(context, room));
  Combine(context, room, dst, epilogue.residual);
  if (epilogue.norm != nullptr) {
    Normalize(context.compute(), dst, *epilogue.norm, dst, epilogue.operand);
  } else if (epilogue.operand.data != nullptr) {
    MakeOperand(context.compute(), dst, epilogue.operand);
  }
  return absl::OkStatus();
}

void MixtureOfExperts::Choose(ExecContext& context,
                              const ExpertRoom& room) const {
  const OpTimer timer({.name = "choose_experts", .rows = room.scores.rows});
  ExpertChoices& choices = *room.choices;
  const int rows = room.scores.rows;
  const int chosen = parts_.chosen;
  choices.experts.resize(static_cast<size_t>(rows) * chosen);
  choices.weights.resize(choices.experts.size());
  ForEachRow(context, rows, [&](int row) {
    const absl::Span<float> scores(room.scores.row(row), experts());
    int* const first = &choices.experts[static_cast<size_t>(row) * chosen];
    float* const weights = &choices.weights[static_cast<size_t>(row) * chosen];
    ChooseExperts(scores, {first, static_cast<size_t>(chosen)});
    float sum = 0;
    for (int j = 0; j < chosen; ++j) sum += weights[j] = scores[first[j]];
    if (!parts_.normalized) return;
    for (int j = 0; j < chosen; ++j) weights[j] /= sum;
  });
  Sort(choices);
}

void MixtureOfExperts::Sort(ExpertChoices& choices) const {
  std::vector<int>& ends = choices.ends;
  ends.assign(experts() + 1, 0);
  for (const int expert : choices.experts) ++ends[expert + 1];
  for (int i = 0; i < experts(); ++i) ends[i + 1] += ends[i];
  // Each expert's begin moves to its end, which is where the next begins.
  choices.places.resize(choices.experts.size());
  for (size_t i = 0; i < choices.experts.size(); ++i) {
    choices.places[i] = ends[choices.experts[i]]++;
  }
  std::copy_backward(ends.begin(), ends.end() - 1, ends.end());
  ends[0] = 0;
}

void MixtureOfExperts::Gather(ExecContext& context, const Operand& operand,
                              const ExpertRoom& room) const {
  const OpTimer timer({.name = "gather_rows", .rows = operand.rows});
  const size_t bytes = OperandBytes(operand.dtype, operand.cols);
  ForEachRow(context, operand.rows, [&](int row) {
    for (int j = 0; j < parts_.chosen; ++j) {
      const size_t i = static_cast<size_t>(row) * parts_.chosen + j;
      std::memcpy(room.gathered.row(room.choices->places[i]), operand.row(row),
                  bytes);
    }
  });
}

absl::Status MixtureOfExperts::RunExperts(ExecContext& context,
                                          const ExpertRoom& room) const {
  for (int i = 0; i < experts(); ++i) {
    const int first = room.choices->ends[i];
    const int rows = room.choices->ends[i + 1] - first;
    if (rows == 0) continue;
    const Matrix inner = {room.inner.data, rows, room.inner.cols};
    const Matrix dst = {room.outputs.row(first), rows, room.outputs.cols};
    RETURN_IF_ERROR(parts_.experts[i].Run(
        context, RowsOf(room.gathered, first, rows), inner,
        RowsOf(room.inner_operand, 0, rows), dst, {}));
  }
  return absl::OkStatus();
}

void MixtureOfExperts::Combine(ExecContext& context, const ExpertRoom& room,
                               Matrix dst, const float* residual) const {
  const OpTimer timer({.name = "combine_experts", .rows = dst.rows});
  const int width = dst.cols;
  ForEachRow(context, dst.rows, [&](int row) {
    const size_t i = static_cast<size_t>(row) * parts_.chosen;
    const int* const places = &room.choices->places[i];
    const float* const weights = &room.choices->weights[i];
    // The output of the first expert becomes the sum.
    float* const sum = room.outputs.row(places[0]);
    for (int k = 0; k < width; ++k) sum[k] *= weights[0];
    for (int j = 1; j < parts_.chosen; ++j) {
      const float* const output = room.outputs.row(places[j]);
      for (int k = 0; k < width; ++k) sum[k] += weights[j] * output[k];
    }
    if (parts_.bias.size() > 0) {
      for (int k = 0; k < width; ++k) sum[k] += parts_.bias[k];
    }
    float* const to = dst.row(row);
    if (residual == nullptr) {
      std::copy_n(sum, width, to);
      return;
    }
    const float* const from = residual + static_cast<size_t>(row) * width;
    for (int k = 0; k < width; ++k) to[k] = sum[k] + from[k];
  });
}

}  // namespace attend
