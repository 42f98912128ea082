#ifndef ATTEND_ENGINE_FAMILIES_SHARED_TENSOR_NAMES_H_
#define ATTEND_ENGINE_FAMILIES_SHARED_TENSOR_NAMES_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "engine/checkpoint/weights.h"
#include "engine/json/json_file.h"

namespace attend {

// Tables of names, from what a family's checkpoints call a layer's parts.

// A slot and what the checkpoint calls it, both without what comes before, and
// without ".weight" and ".bias".
struct SlotName {
  const char* slot;    // "self.q"
  const char* tensor;  // "self_attn.q_proj"
};

enum class Parts { kWeight, kWeightAndBias };

// By a flag of config.json that is false where it is absent.
absl::StatusOr<Parts> PartsOf(const JsonFile& config, absl::string_view key);

// A matrix or a table that has no bias: a row for the slot as it is, from the
// first of the tensors that the checkpoint has.
void AddTensor(const std::string& slot, std::vector<std::string> tensors,
               NameTable& names);

// Rows "<slot>.weight" and "<slot>.bias" from "<tensor>.weight" and
// "<tensor>.bias", of the first of the tensors that the checkpoint has.
void AddParts(const std::string& slot, const std::vector<std::string>& tensors,
              Parts parts, NameTable& names);

// AddParts for every one of `list`, whose slots follow `slot_prefix` and whose
// tensors follow each of `tensor_prefixes`: "encoder.{}." and
// {"model.encoder.layers.{}.", "encoder.layers.{}."}, say.
void AddList(const std::string& slot_prefix,
             const std::vector<std::string>& tensor_prefixes,
             absl::Span<const SlotName> list, Parts parts, NameTable& names);

// A slot and the tensors that are its own.
struct TableName {
  std::string slot;
  std::vector<std::string> tensors;
};

// Tables that are one: each comes from its own tensor where the checkpoint has
// one (programs differ in how many of them they save, and a table that is not
// what the configuration says is what was trained), else from `shared`, else
// from another's.
void AddTied(const std::vector<TableName>& tables,
             const std::vector<std::string>& shared, NameTable& names);

// Tables of tokens of an encoder-decoder with one vocabulary: one for both
// stacks and, where it is `tied`, for the logits.
void AddSharedTokens(bool tied, NameTable& names);

// The decoder's table of tokens from the first of `in`, and the weights of its
// logits from the first of `out`, where they are not `tied`.
void AddInAndOut(bool tied, const std::vector<std::string>& in,
                 const std::vector<std::string>& out, NameTable& names);

// Slots "self.q", "self.k" and "self.v" of a tensor that holds them head by
// head.
void AddHeadShares(const std::string& slot_prefix, int heads,
                   const std::vector<std::string>& tensors, Parts parts,
                   NameTable& names);

// Slots that are equal shares of a tensor's rows, in this order.
void AddShares(const std::string& slot_prefix,
               absl::Span<const char* const> slots,
               const std::vector<std::string>& tensors, Parts parts,
               NameTable& names);

// Each of `tensors` after each of `prefixes`.
std::vector<std::string> WithPrefixes(const std::vector<std::string>& prefixes,
                                      const std::vector<std::string>& tensors);

// Each of `tensors` after each of `prefixes` may be in the file and is not
// needed.
void AddUnused(const std::vector<std::string>& prefixes,
               const std::vector<std::string>& tensors, NameTable& names);

}  // namespace attend

#endif  // ATTEND_ENGINE_FAMILIES_SHARED_TENSOR_NAMES_H_
