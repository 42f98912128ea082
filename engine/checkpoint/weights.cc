#include "engine/checkpoint/weights.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/strip.h"
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

// The part of a tensor's values that a row of the table stands for.
Buffer<float> PartOf(Buffer<float> values, const NameRow& row) {
  if (row.parts == 1) return values;
  const size_t count = values.size() / row.parts;
  Buffer<float> part(count);
  std::copy_n(values.data() + row.part * count, count, part.data());
  return part;
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
  whole[0] *= match.row->parts;
  size_t count = 1;
  for (const int64_t dim : whole) count *= static_cast<size_t>(dim);
  if (match.tensor.empty()) {
    if (match.row->zero_if_missing) {
      return Buffer<float>(count / match.row->parts);
    }
    return absl::NotFoundError(absl::StrCat(
        checkpoint_.directory(), ": no tensor ",
        FillPattern(absl::StrJoin(match.row->tensors, " or "), match.layer),
        " (", slot, "), expected one of shape ", ShapeText(whole)));
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
  return PartOf(std::move(values), *match.row);
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
