#include "engine/families/shared/tensor_names.h"

#include <utility>

#include "engine/tensor/status_macros.h"

namespace attend {
namespace {

// `ending`: ".weight" or ".bias".
void AddEnding(const std::string& slot, const std::vector<std::string>& tensors,
               const char* ending, NameTable& names) {
  std::vector<std::string> ended;
  ended.reserve(tensors.size());
  for (const std::string& tensor : tensors) ended.push_back(tensor + ending);
  AddTensor(slot + ending, std::move(ended), names);
}

}  // namespace

absl::StatusOr<Bias> BiasFlag(const JsonFile& config, absl::string_view key,
                              Bias fallback) {
  ASSIGN_OR_RETURN(const bool bias, config.BoolOr(key, fallback == Bias::kYes));
  return bias ? Bias::kYes : Bias::kNo;
}

void AddTensor(const std::string& slot, std::vector<std::string> tensors,
               NameTable& names) {
  names.rows.push_back({slot, std::move(tensors)});
}

void AddWeights(const std::string& slot,
                const std::vector<std::string>& tensors, Bias bias,
                NameTable& names) {
  AddEnding(slot, tensors, ".weight", names);
  if (bias == Bias::kYes) AddEnding(slot, tensors, ".bias", names);
}

void AddList(const std::string& slot_prefix,
             const std::vector<std::string>& tensor_prefixes,
             absl::Span<const SlotName> list, Bias bias, NameTable& names) {
  for (const SlotName& name : list) {
    AddWeights(slot_prefix + name.slot,
               WithPrefixes(tensor_prefixes, {name.tensor}), bias, names);
  }
}

void AddTied(const std::vector<TableName>& tables,
             const std::vector<std::string>& shared, NameTable& names) {
  for (const TableName& table : tables) {
    std::vector<std::string> any = table.tensors;
    any.insert(any.end(), shared.begin(), shared.end());
    for (const TableName& other : tables) {
      any.insert(any.end(), other.tensors.begin(), other.tensors.end());
    }
    AddTensor(table.slot, std::move(any), names);
  }
  AddUnused({""}, shared, names);
}

void AddSharedTokens(bool tied, NameTable& names) {
  // A checkpoint of the model without its head has names without "model.".
  const auto named = [](const char* tensor) {
    return WithPrefixes({"model.", ""}, {tensor});
  };
  std::vector<TableName> tables = {
      {"encoder.embedding.tokens", named("encoder.embed_tokens.weight")},
      {"decoder.embedding.tokens", named("decoder.embed_tokens.weight")}};
  const TableName logits = {"logits.weight", {"lm_head.weight"}};
  if (tied) {
    tables.push_back(logits);
  } else {
    AddTied({logits}, {}, names);
  }
  AddTied(tables, named("shared.weight"), names);
}

void AddInAndOut(bool tied, const std::vector<std::string>& in,
                 const std::vector<std::string>& out, NameTable& names) {
  const TableName tokens = {"decoder.embedding.tokens", in};
  const TableName logits = {"logits.weight", out};
  if (tied) return AddTied({tokens, logits}, {}, names);
  AddTied({tokens}, {}, names);
  AddTied({logits}, {}, names);
}

void AddHeadSlices(const std::string& slot_prefix,
                   const AttentionSpec& attention,
                   const std::vector<std::string>& tensors, Bias bias,
                   NameTable& names) {
  const int queries = attention.heads / attention.kv_heads;
  const auto add = [&](const char* slot, int first, int taken) {
    const size_t begin = names.rows.size();
    AddWeights(slot_prefix + slot, tensors, bias, names);
    for (size_t row = begin; row < names.rows.size(); ++row) {
      names.rows[row].slices = {.first = first,
                                .taken = taken,
                                .total = queries + 2,
                                .groups = attention.kv_heads};
    }
  };
  add("self.q", 0, queries);
  add("self.k", queries, 1);
  add("self.v", queries + 1, 1);
}

void AddSlices(const std::string& slot_prefix,
               absl::Span<const char* const> slots,
               const std::vector<std::string>& tensors, Bias bias,
               NameTable& names) {
  for (size_t i = 0; i < slots.size(); ++i) {
    const size_t first = names.rows.size();
    AddWeights(slot_prefix + slots[i], tensors, bias, names);
    for (size_t row = first; row < names.rows.size(); ++row) {
      names.rows[row].slices.first = static_cast<int>(i);
      names.rows[row].slices.total = static_cast<int>(slots.size());
    }
  }
}

std::vector<std::string> WithPrefixes(const std::vector<std::string>& prefixes,
                                      const std::vector<std::string>& tensors) {
  std::vector<std::string> all;
  for (const std::string& tensor : tensors) {
    for (const std::string& prefix : prefixes) all.push_back(prefix + tensor);
  }
  return all;
}

void AddUnused(const std::vector<std::string>& prefixes,
               const std::vector<std::string>& tensors, NameTable& names) {
  for (std::string& tensor : WithPrefixes(prefixes, tensors)) {
    names.unused.push_back(std::move(tensor));
  }
}

}  // namespace attend
