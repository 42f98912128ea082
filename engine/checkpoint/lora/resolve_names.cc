// LoraSource: the model's names of what an adapter changes.

#include "engine/checkpoint/lora/resolve_names.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "engine/checkpoint/lora/lora_source.h"
#include "engine/checkpoint/name_pattern.h"
#include "engine/tensor/status_macros.h"

namespace attend {

const NameRow* RowThatReads(const NameTable& names, absl::string_view tensor) {
  for (const NameRow& row : names.rows) {
    for (const std::string& pattern : row.tensors) {
      if (MatchPattern(pattern, tensor)) return &row;
    }
  }
  return nullptr;
}

absl::StatusOr<std::string> LoraSource::Resolve(const NameTable& names,
                                                const std::string& name) const {
  // A file of the bare model has no prefix where a class with a head has one,
  // and the other way round.
  std::vector<std::string> candidates = {name};
  for (int i = 0; i < 2; ++i) {
    const size_t dot = candidates.back().find('.');
    if (dot == std::string::npos) break;
    candidates.push_back(candidates.back().substr(dot + 1));
  }
  for (const std::string& candidate : candidates) {
    if (base_->Has(candidate) && RowThatReads(names, candidate) != nullptr) {
      RETURN_IF_ERROR(CheckNotTied(names, candidate));
      return candidate;
    }
  }
  for (const std::string& stored : base_->Names()) {
    if (absl::EndsWith(stored, "." + name) &&
        RowThatReads(names, stored) != nullptr) {
      RETURN_IF_ERROR(CheckNotTied(names, stored));
      return stored;
    }
  }
  for (const std::string& candidate : candidates) {
    if (RowThatReads(names, candidate) != nullptr) return candidate;
  }
  return absl::InvalidArgumentError(
      absl::StrCat(file_.path(), ": changes ", name, ", which is not part of ",
                   "the model in ", base_->path()));
}

// The trained tokens of a table are those of all that is tied to it.
absl::StatusOr<std::string> LoraSource::ResolveTable(
    const NameTable& names, const std::string& name) const {
  std::string table;
  for (const std::string& stored : base_->Names()) {
    if ((stored == name || absl::EndsWith(stored, "." + name) ||
         absl::EndsWith(name, "." + stored)) &&
        RowThatReads(names, stored) != nullptr) {
      table = stored;
    }
  }
  if (table.empty()) return Resolve(names, name);
  for (const NameRow& row : names.rows) {
    const auto reads = [&](const std::string& pattern) {
      return MatchPattern(pattern, table).has_value();
    };
    if (std::none_of(row.tensors.begin(), row.tensors.end(), reads)) continue;
    const auto first =
        std::find_if(row.tensors.begin(), row.tensors.end(),
                     [&](const std::string& pattern) { return Has(pattern); });
    if (first == row.tensors.end() || reads(*first)) continue;
    return absl::InvalidArgumentError(
        absl::StrCat(file_.path(), ": changes tokens of ", table, ", to which ",
                     *first, " is tied, but is a tensor of its own"));
  }
  return table;
}

absl::Status LoraSource::CheckNotTied(const NameTable& names,
                                      const std::string& name) const {
  std::set<std::string> slots;
  for (const NameRow& row : names.rows) {
    if (row.slices != TensorSlices{.transposed = row.slices.transposed}) {
      continue;
    }
    for (const std::string& pattern : row.tensors) {
      const auto layer = MatchPattern(pattern, name);
      if (layer) slots.insert(row.slot);
      if (layer || base_->Has(pattern) || given_.count(pattern) > 0) break;
    }
  }
  if (slots.size() < 2) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      file_.path(), ": changes ", name, ", which the model has as ",
      *slots.begin(), " and ", *std::next(slots.begin()),
      ", which are tied; merge the adapter into the model with "
      "merge_and_unload() of peft"));
}

}  // namespace attend
