#include "engine/checkpoint/weights.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "engine/checkpoint/name_pattern.h"
#include "engine/checkpoint/unused_tensors.h"
#include "engine/tensor/check.h"
#include "engine/tensor/status_macros.h"

namespace attend {
namespace {

size_t CountOf(absl::Span<const int64_t> shape) {
  size_t count = 1;
  for (const int64_t dim : shape) count *= static_cast<size_t>(dim);
  return count;
}

bool IsSkipped(const NameTable& names, absl::string_view tensor) {
  return std::any_of(names.skipped.begin(), names.skipped.end(),
                     [tensor](const std::string& pattern) {
                       return MatchesStar(pattern, tensor);
                     });
}

absl::Status CheckFinite(const TensorView& view) {
  const size_t bad = FindNotFinite(view.type, view.bytes);
  if (bad == NumbersIn(view.type, view.bytes.size())) return absl::OkStatus();
  float values[kMaxBlockNumbers];
  ToFloats(view.type, view.bytes.data() + BytesOf(view.type, bad),
           {values, static_cast<size_t>(BlockOf(view.type).numbers)});
  return absl::InvalidArgumentError(absl::StrCat(view.place, " holds ",
                                                 values[0], " at element ", bad,
                                                 ", expected finite values"));
}

}  // namespace

bool IsUnused(const NameTable& names, absl::string_view tensor) {
  return std::any_of(names.unused.begin(), names.unused.end(),
                     [tensor](const std::string& pattern) {
                       return MatchPattern(pattern, tensor).has_value();
                     }) ||
         IsSkipped(names, tensor);
}

Weights::Weights(const TensorSource& source, NameTable names)
    : source_(source), names_(std::move(names)) {}

Weights::Match Weights::Find(absl::string_view slot) const {
  for (const NameRow& row : names_.rows) {
    const std::optional<std::string> layer = MatchPattern(row.slot, slot);
    if (!layer.has_value()) continue;
    for (const std::string& pattern : row.tensors) {
      const std::string tensor = FillPattern(pattern, *layer);
      if (source_.Has(tensor)) return {&row, *layer, tensor};
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

bool Weights::AreSame(absl::string_view slot, absl::string_view other) const {
  const Match a = Find(slot);
  const Match b = Find(other);
  if (a.tensor.empty() || b.tensor.empty()) return false;
  if (a.row->slices != b.row->slices) return false;
  if (a.tensor == b.tensor) return true;
  // One tensor may have several names.
  const absl::StatusOr<TensorView> one = source_.Find(a.tensor);
  const absl::StatusOr<TensorView> two = source_.Find(b.tensor);
  return one.ok() && two.ok() && !one->bytes.empty() &&
         one->bytes.data() == two->bytes.data() && one->shape == two->shape &&
         one->column_major == two->column_major &&
         (one->rows == nullptr) == (two->rows == nullptr);
}

absl::StatusOr<std::unique_ptr<const SlotRows>> Weights::Rows(
    absl::string_view slot, absl::Span<const int64_t> shape) {
  const Match match = Find(slot);
  if (match.row == nullptr) {
    return absl::InternalError(
        absl::StrCat("the family's table has no slot ", slot));
  }
  ASSIGN_OR_RETURN(TensorView view, View(slot, match, shape));
  TensorSlices slices = match.row->slices;
  if (view.column_major) slices.transposed = !slices.transposed;
  return std::make_unique<const SlotRows>(
      source_, std::move(view), slices, static_cast<int>(shape[0]),
      static_cast<int>(CountOf(shape.subspan(1))));
}

absl::StatusOr<TensorView> Weights::View(absl::string_view slot,
                                         const Match& match,
                                         absl::Span<const int64_t> shape) {
  const NameRow& row = *match.row;
  std::vector<int64_t> whole(shape.begin(), shape.end());
  ATTEND_CHECK(whole[0] % (int64_t{1} * row.slices.taken * row.slices.groups) ==
               0);
  whole[0] = whole[0] / row.slices.taken * row.slices.total;
  if (row.slices.transposed) std::reverse(whole.begin(), whole.end());
  if (match.tensor.empty()) {
    if (row.zero_if_missing) return TensorView{};
    whole[0] *= row.slices.matrices;
    return absl::NotFoundError(absl::StrCat(
        source_.path(), ": no tensor ",
        FillPattern(absl::StrJoin(row.tensors, " or "), match.layer), " (",
        slot, "), expected one of shape ", ShapeText(whole)));
  }
  ASSIGN_OR_RETURN(TensorView view, FindShaped(slot, match, whole));
  if (view.rows != nullptr && row.slices.transposed != view.column_major) {
    return absl::InvalidArgumentError(
        absl::StrCat(view.place,
                     " is quantised, expected plain numbers, since "
                     "it is stored as [columns, rows] (",
                     slot, ")"));
  }
  const StorageBlock block = BlockOf(view.type);
  const size_t row_numbers = CountOf(shape.subspan(1));
  if (row.slices.transposed ? block.numbers > 1
                            : row_numbers % block.numbers != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat(view.place, " has type ", block.name, ", blocks of ",
                     block.numbers, " numbers, expected whole blocks in each ",
                     "row of ", slot, ", or another type"));
  }
  if (read_.insert(match.tensor).second && view.rows == nullptr) {
    RETURN_IF_ERROR(CheckFinite(view));
  }
  if (row.slices.matrices == 1) return view;
  const size_t bytes = BytesOf(view.type, CountOf(whole));
  view.bytes = view.bytes.subspan(row.slices.matrix * bytes, bytes);
  view.shape = std::move(whole);
  return view;
}

absl::StatusOr<TensorView> Weights::FindShaped(absl::string_view slot,
                                               const Match& match,
                                               std::vector<int64_t> whole) {
  ASSIGN_OR_RETURN(TensorView view, source_.Find(match.tensor));
  std::vector<int64_t> other = whole;
  const int matrices = match.row->slices.matrices;
  if (matrices > 1) {
    other.insert(other.begin(), matrices);
    whole[0] *= matrices;
  } else if (whole.size() == 1) {
    other.insert(other.begin(), 1);
  } else if (whole.size() == 2 && whole[1] == 1) {
    other.pop_back();
  } else if (whole.size() == 2 && whole[0] == 1) {
    other.erase(other.begin());
  }
  if (view.shape != whole && view.shape != other) {
    return absl::InvalidArgumentError(
        absl::StrCat(view.place, " has shape ", ShapeText(view.shape),
                     ", expected ", ShapeText(whole), " (", slot, ")"));
  }
  if (matrices > 1 && (view.rows != nullptr || view.column_major)) {
    return absl::InvalidArgumentError(absl::StrCat(
        view.place, " is quantised, expected plain numbers, since it holds ",
        matrices, " matrices (", slot, ")"));
  }
  return view;
}

absl::StatusOr<Buffer<float>> Weights::Read(absl::string_view slot,
                                            absl::Span<const int64_t> shape) {
  ASSIGN_OR_RETURN(const auto rows, Rows(slot, shape));
  Buffer<float> values(CountOf(shape));
  rows->Read(0, {values.data(), rows->rows(), rows->cols()});
  return values;
}

std::vector<std::string> Weights::Skipped() const {
  std::vector<std::string> skipped;
  for (std::string& name : source_.Names()) {
    if (read_.count(name) == 0 && IsSkipped(names_, name)) {
      skipped.push_back(std::move(name));
    }
  }
  return skipped;
}

absl::Status Weights::CheckAllRead() const {
  for (const std::string& name : source_.Names()) {
    if (IsUnused(names_, name) || read_.count(name) > 0) continue;
    return absl::InvalidArgumentError(
        absl::StrCat(source_.path(), ": tensor ", name,
                     " is not part of the model that config.json describes"));
  }
  return absl::OkStatus();
}

}  // namespace attend
