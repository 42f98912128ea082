#include "engine/checkpoint/quantized_parts.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "engine/checkpoint/grouped_rows.h"
#include "engine/checkpoint/scaled_rows.h"
#include "engine/tensor/status_macros.h"

namespace attend {
namespace {

using Stored = Checkpoint::Stored;

// Beyond these no model goes, and products stay far from overflowing.
constexpr int64_t kMaxSide = 1 << 24;
// Numbers less their zero.
constexpr float kMaxNumber = 256;

int64_t WordsOf(int64_t numbers, int bits) {
  const int per_word = 32 / bits;
  return (numbers + per_word - 1) / per_word;
}

absl::Status Unexpected(const Stored& part, absl::string_view expected) {
  return absl::InvalidArgumentError(
      absl::StrCat(part.place, " has dtype ", part.dtype, " and shape ",
                   ShapeText(part.shape), ", expected ", expected));
}

// A part of a known dtype and shape.
absl::StatusOr<Stored> Part(const Checkpoint& checkpoint,
                            const std::string& name, const char* dtype,
                            const std::vector<int64_t>& shape) {
  ASSIGN_OR_RETURN(Stored part, checkpoint.FindStored(name));
  if (part.dtype == dtype && part.shape == shape) return part;
  return Unexpected(part, absl::StrCat(dtype, " and ", ShapeText(shape)));
}

// A matrix of a known dtype, whose sides are in [1, kMaxSide].
absl::StatusOr<Stored> AnyMatrix(const Checkpoint& checkpoint,
                                 const std::string& name, const char* dtype) {
  ASSIGN_OR_RETURN(Stored part, checkpoint.FindStored(name));
  const auto fits = [](int64_t side) { return side > 0 && side <= kMaxSide; };
  if (part.dtype == dtype && part.shape.size() == 2 && fits(part.shape[0]) &&
      fits(part.shape[1])) {
    return part;
  }
  return Unexpected(part, absl::StrCat(dtype, " and a matrix of 1 to ",
                                       kMaxSide, " rows and columns"));
}

absl::Status CheckScales(const TensorView& view) {
  for (size_t i = 0; i < view.count(); ++i) {
    float scale;
    ToFloats(view.type, view.bytes.data() + BytesOf(view.type, i), {&scale, 1});
    if (std::isfinite(scale * kMaxNumber)) continue;
    return absl::InvalidArgumentError(
        absl::StrCat(view.place, " holds ", scale, " at element ", i,
                     ", expected ", kMaxNumber, " times it to be finite"));
  }
  return absl::OkStatus();
}

// How many groups the columns are in.
int Groups(const GroupedMatrix& matrix, const Quantization& quantization) {
  const int size = quantization.group_size;
  return size == 0 ? 1 : (matrix.cols - 1) / size + 1;
}

// Scales [groups, rows] if `by_group`, else [rows, groups].
absl::Status AddScales(const Checkpoint& checkpoint, const std::string& name,
                       bool by_group, int groups, GroupedMatrix& matrix) {
  ASSIGN_OR_RETURN(const TensorView view, checkpoint.Find(name));
  // Row-major order is that of FindStored().
  RETURN_IF_ERROR(checkpoint.FindStored(name).status());
  const std::vector<int64_t> shape =
      by_group ? std::vector<int64_t>{groups, matrix.rows}
               : std::vector<int64_t>{matrix.rows, groups};
  if (view.shape != shape) {
    return absl::InvalidArgumentError(
        absl::StrCat(view.place, " has shape ", ShapeText(view.shape),
                     ", expected ", ShapeText(shape), ": ", groups,
                     " groups of the ", matrix.cols, " inputs, by group_size"));
  }
  RETURN_IF_ERROR(CheckScales(view));
  matrix.scale_type = view.type;
  matrix.scales = view.bytes;
  matrix.scale_row_stride = by_group ? 1 : groups;
  matrix.scale_group_stride = by_group ? matrix.rows : 1;
  return absl::OkStatus();
}

// Groups one after the other.
void AddEqualGroups(const Quantization& quantization, GroupedMatrix& matrix) {
  const int size =
      quantization.group_size == 0 ? matrix.cols : quantization.group_size;
  matrix.group_of.resize(matrix.cols);
  for (int col = 0; col < matrix.cols; ++col) matrix.group_of[col] = col / size;
}

// The group of each column, as `name` lists them, if there is such a tensor.
absl::Status AddGroups(const Checkpoint& checkpoint, const std::string& name,
                       int groups, const Quantization& quantization,
                       GroupedMatrix& matrix) {
  AddEqualGroups(quantization, matrix);
  if (!checkpoint.Has(name)) return absl::OkStatus();
  ASSIGN_OR_RETURN(const Stored list,
                   Part(checkpoint, name, "I32", {matrix.cols}));
  std::memcpy(matrix.group_of.data(), list.bytes.data(), list.bytes.size());
  for (int col = 0; col < matrix.cols; ++col) {
    const int group = matrix.group_of[col];
    if (group >= 0 && group < groups) continue;
    return absl::InvalidArgumentError(
        absl::StrCat(list.place, " holds ", group, " at element ", col,
                     ", expected a group in [0, ", groups, ")"));
  }
  return absl::OkStatus();
}

TensorView ViewOf(const Stored& part, GroupedMatrix matrix) {
  TensorView view = {.shape = {matrix.rows, matrix.cols},
                     .bytes = part.bytes,
                     .place = part.place};
  view.rows = std::make_shared<const GroupedRows>(std::move(matrix));
  return view;
}

// A matrix in int8, with a scale for each row or one for all.
absl::StatusOr<TensorView> Int8View(const Checkpoint& checkpoint,
                                    const std::string& numbers,
                                    const std::string& scales_name) {
  ASSIGN_OR_RETURN(const Stored part, AnyMatrix(checkpoint, numbers, "I8"));
  ASSIGN_OR_RETURN(const TensorView view, checkpoint.Find(scales_name));
  const size_t rows = static_cast<size_t>(part.shape[0]);
  if (view.count() != rows && view.count() != 1) {
    return absl::InvalidArgumentError(absl::StrCat(
        view.place, " has shape ", ShapeText(view.shape),
        ", expected a scale for each of ", rows, " rows, or one for all"));
  }
  RETURN_IF_ERROR(CheckScales(view));
  std::vector<float> scales(view.count());
  ToFloats(view.type, view.bytes.data(), absl::MakeSpan(scales));
  if (scales.size() == 1) scales.resize(rows, scales[0]);
  return TensorView{.shape = part.shape,
                    .bytes = part.bytes,
                    .place = part.place,
                    .rows = std::make_shared<const ScaledRows>(
                        part.bytes, std::move(scales))};
}

}  // namespace

absl::StatusOr<TensorView> AwqView(const Checkpoint& checkpoint,
                                   const Quantization& quantization,
                                   const std::string& module) {
  ASSIGN_OR_RETURN(const Stored words,
                   AnyMatrix(checkpoint, module + ".qweight", "I32"));
  PackedInts stored = {
      .bytes = words.bytes,
      .bits = quantization.bits,
      .of_row = false,
      .row_stride = 1,
      .col_stride = static_cast<size_t>(words.shape[1]),
      .places = std::array<uint8_t, 8>{0, 4, 1, 5, 2, 6, 3, 7}};
  GroupedMatrix matrix = {.rows = static_cast<int>(words.shape[1] * 8),
                          .cols = static_cast<int>(words.shape[0]),
                          .stored = stored};
  const int groups = Groups(matrix, quantization);
  ASSIGN_OR_RETURN(const Stored zeros, Part(checkpoint, module + ".qzeros",
                                            "I32", {groups, words.shape[1]}));
  stored.bytes = zeros.bytes;
  matrix.zeros = stored;
  RETURN_IF_ERROR(
      AddScales(checkpoint, module + ".scales", true, groups, matrix));
  AddEqualGroups(quantization, matrix);
  return ViewOf(words, std::move(matrix));
}

absl::StatusOr<TensorView> GptqView(const Checkpoint& checkpoint,
                                    const Quantization& quantization,
                                    const std::string& module) {
  const int bits = quantization.bits;
  ASSIGN_OR_RETURN(const Stored words,
                   AnyMatrix(checkpoint, module + ".qweight", "I32"));
  const size_t out = words.shape[1];
  GroupedMatrix matrix = {
      .rows = static_cast<int>(out),
      .cols = static_cast<int>(words.shape[0] * (32 / bits)),
      .stored = {.bytes = words.bytes,
                 .bits = bits,
                 .row_stride = 1,
                 .col_stride = out}};
  const int groups = Groups(matrix, quantization);
  const int64_t zero_words = WordsOf(matrix.rows, bits);
  ASSIGN_OR_RETURN(const Stored zeros, Part(checkpoint, module + ".qzeros",
                                            "I32", {groups, zero_words}));
  // The one that a zero lacks may be borrowed from its neighbour in the word,
  // as GPTQModel does it: so words are added, not numbers.
  matrix.zeros = PackedInts{
      .bytes = zeros.bytes,
      .bits = bits,
      .of_row = false,
      .row_stride = 1,
      .col_stride = static_cast<size_t>(zero_words),
      .added = quantization.zeros_less_one ? ~0u / ((1u << bits) - 1) : 0};
  RETURN_IF_ERROR(
      AddScales(checkpoint, module + ".scales", true, groups, matrix));
  RETURN_IF_ERROR(
      AddGroups(checkpoint, module + ".g_idx", groups, quantization, matrix));
  return ViewOf(words, std::move(matrix));
}

absl::StatusOr<TensorView> PackQuantizedView(const Checkpoint& checkpoint,
                                             const Quantization& quantization,
                                             const std::string& module) {
  const int bits = quantization.bits;
  ASSIGN_OR_RETURN(const Stored words,
                   AnyMatrix(checkpoint, module + ".weight_packed", "I32"));
  ASSIGN_OR_RETURN(const Stored shape,
                   Part(checkpoint, module + ".weight_shape", "I64", {2}));
  int64_t sides[2];
  std::memcpy(sides, shape.bytes.data(), sizeof(sides));
  if (sides[0] != words.shape[0] || sides[1] < 1 || sides[1] > kMaxSide ||
      WordsOf(sides[1], bits) != words.shape[1]) {
    return Unexpected(
        words, absl::StrCat(bits, " bits for each number of ", ShapeText(sides),
                            ", as weight_shape says"));
  }
  GroupedMatrix matrix = {
      .rows = static_cast<int>(sides[0]),
      .cols = static_cast<int>(sides[1]),
      .stored = {.bytes = words.bytes,
                 .bits = bits,
                 .row_stride = static_cast<size_t>(words.shape[1])},
      .zero = 1 << (bits - 1)};
  const int groups = Groups(matrix, quantization);
  const std::string zero_name = module + ".weight_zero_point";
  if (checkpoint.Has(zero_name)) {
    ASSIGN_OR_RETURN(const Stored zeros,
                     Part(checkpoint, zero_name, "I32",
                          {WordsOf(matrix.rows, bits), groups}));
    matrix.zeros = PackedInts{.bytes = zeros.bytes,
                              .bits = bits,
                              .of_row = false,
                              .row_stride = static_cast<size_t>(groups)};
  }
  RETURN_IF_ERROR(
      AddScales(checkpoint, module + ".weight_scale", false, groups, matrix));
  AddEqualGroups(quantization, matrix);
  return ViewOf(words, std::move(matrix));
}

absl::StatusOr<TensorView> IntQuantizedView(const Checkpoint& checkpoint,
                                            const std::string& module) {
  return Int8View(checkpoint, module + ".weight", module + ".weight_scale");
}

absl::StatusOr<TensorView> TorchaoInt8View(const Checkpoint& checkpoint,
                                           const std::string& module) {
  ASSIGN_OR_RETURN(const Stored zeros,
                   checkpoint.FindStored(module + "._weight_zero_point"));
  const auto other = std::find_if(zeros.bytes.begin(), zeros.bytes.end(),
                                  [](uint8_t byte) { return byte != 0; });
  if (zeros.dtype != "I8" || other != zeros.bytes.end()) {
    return Unexpected(zeros, "I8 and zeros alone");
  }
  return Int8View(checkpoint, module + "._weight_qdata",
                  module + "._weight_scale");
}

}  // namespace attend
