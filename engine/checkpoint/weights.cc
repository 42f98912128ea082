#include "engine/checkpoint/weights.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/strip.h"
#include "engine/tensor/check.h"
#include "engine/tensor/status_macros.h"

namespace attend {
namespace {

constexpr absl::string_view kLayer = "{}";

// What stands for "{}" if `name` fits `pattern`; "" if there is no "{}".
std::optional<std::string> MatchPattern(absl::string_view pattern,
                                        absl::string_view name) {
  const size_t at = pattern.find(kLayer);
  if (at == absl::string_view::npos) {
    if (pattern == name) return "";
    return std::nullopt;
  }
  if (!absl::ConsumePrefix(&name, pattern.substr(0, at)) ||
      !absl::ConsumeSuffix(&name, pattern.substr(at + kLayer.size())) ||
      name.empty() ||
      !std::all_of(name.begin(), name.end(), absl::ascii_isdigit)) {
    return std::nullopt;
  }
  return std::string(name);
}

std::string FillPattern(absl::string_view pattern, absl::string_view layer) {
  return absl::StrReplaceAll(pattern, {{kLayer, layer}});
}

// [columns, rows] -> [rows, columns].
Buffer<float> Transpose(const Buffer<float>& values, size_t rows) {
  const size_t columns = values.size() / rows;
  Buffer<float> transposed(values.size());
  for (size_t row = 0; row < rows; ++row) {
    for (size_t column = 0; column < columns; ++column) {
      transposed[row * columns + column] = values[column * rows + row];
    }
  }
  return transposed;
}

// What a row of the table stands for, of all values of a tensor.
Buffer<float> PartOf(Buffer<float> values, const NameRow& row) {
  if (row.parts == row.span) return values;
  const size_t part = values.size() / (size_t{1} * row.groups * row.parts);
  Buffer<float> mine(part * row.span * row.groups);
  for (int group = 0; group < row.groups; ++group) {
    std::copy_n(values.data() + part * (group * row.parts + row.part),
                part * row.span, mine.data() + part * row.span * group);
  }
  return mine;
}

}  // namespace

Weights::Weights(const Checkpoint& checkpoint, NameTable names)
    : checkpoint_(checkpoint), names_(std::move(names)) {}

Weights::Match Weights::Find(absl::string_view slot) const {
  for (const NameRow& row : names_.rows) {
    const std::optional<std::string> layer = MatchPattern(row.slot, slot);
    if (!layer.has_value()) continue;
    for (const std::string& pattern : row.tensors) {
      const std::string tensor = FillPattern(pattern, *layer);
      if (checkpoint_.Has(tensor)) return {&row, *layer, tensor};
    }
    return {&row, *layer, ""};
  }
  return {};
}

bool Weights::Lists(absl::string_view slot) const {
  return Find(slot).row != nullptr;
}

bool Weights::Has(absl::string_view slot) const {
  return !Find(slot).tensor.empty();
}

absl::StatusOr<Buffer<float>> Weights::Read(absl::string_view slot,
                                            absl::Span<const int64_t> shape) {
  const Match match = Find(slot);
  if (match.row == nullptr) {
    return absl::InternalError(
        absl::StrCat("the family's table has no slot ", slot));
  }
  std::vector<int64_t> whole(shape.begin(), shape.end());
  const NameRow& row = *match.row;
  ATTEND_CHECK(whole[0] % (int64_t{1} * row.span * row.groups) == 0);
  whole[0] = whole[0] / row.span * row.parts;
  const size_t rows = static_cast<size_t>(whole[0]);
  size_t count = 1;
  for (const int64_t dim : whole) count *= static_cast<size_t>(dim);
  if (row.transposed) std::reverse(whole.begin(), whole.end());
  if (match.tensor.empty()) {
    if (row.zero_if_missing) {
      return Buffer<float>(count / row.parts * row.span);
    }
    return absl::NotFoundError(absl::StrCat(
        checkpoint_.directory(), ": no tensor ",
        FillPattern(absl::StrJoin(row.tensors, " or "), match.layer), " (",
        slot, "), expected one of shape ", ShapeText(whole)));
  }
  ASSIGN_OR_RETURN(const std::vector<int64_t> found,
                   checkpoint_.Shape(match.tensor));
  std::vector<int64_t> row_shape = whole;
  if (shape.size() == 1) row_shape.insert(row_shape.begin(), 1);
  const bool as_row = found == row_shape;
  // A wrong shape must not allocate what the configuration claims.
  if (!as_row && found != whole) {
    const absl::Status status = checkpoint_.Read(match.tensor, whole, {});
    return absl::Status(status.code(),
                        absl::StrCat(status.message(), " (", slot, ")"));
  }
  Buffer<float> values(count);
  RETURN_IF_ERROR(checkpoint_.Read(match.tensor, as_row ? row_shape : whole,
                                   absl::MakeSpan(values.data(), count)));
  read_.insert(match.tensor);
  if (row.transposed) values = Transpose(values, rows);
  return PartOf(std::move(values), row);
}

absl::Status Weights::CheckAllRead() const {
  for (const std::string& name : checkpoint_.Names()) {
    const bool unused = std::any_of(names_.unused.begin(), names_.unused.end(),
                                    [&](const std::string& p) {
                                      return MatchPattern(p, name).has_value();
                                    });
    if (unused || read_.count(name) > 0) continue;
    return absl::InvalidArgumentError(
        absl::StrCat(checkpoint_.directory(), ": tensor ", name,
                     " is not part of the model that config.json describes"));
  }
  return absl::OkStatus();
}

}  // namespace attend
