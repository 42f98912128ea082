#ifndef ATTEND_ENGINE_FAMILIES_SHARED_TENSOR_NAMES_H_
#define ATTEND_ENGINE_FAMILIES_SHARED_TENSOR_NAMES_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "engine/checkpoint/weights.h"
#include "engine/json/json_file.h"
#include "engine/transformer/layer_spec.h"

namespace attend {

// Functions that fill a NameTable: which tensors of the checkpoint are in which
// slots of the transformer.

// A slot and the name of its tensor, both without the prefix of the layer and
// without ".weight" and ".bias".
struct SlotName {
  const char* slot;    // "self.q"
  const char* tensor;  // "self_attn.q_proj"
};

// A matrix or a norm may have a bias in addition to its weight.
enum class Bias { kNo, kYes };

// The flag `key` of config.json; `fallback` if the key is absent.
absl::StatusOr<Bias> BiasFlag(const JsonFile& config, absl::string_view key,
                              Bias fallback = Bias::kNo);

// For all functions below: `tensors` are alternatives. A slot is read from the
// first of them that the checkpoint has.

// Adds a row for a slot of exactly this name: a matrix or a table that has no
// bias.
void AddTensor(const std::string& slot, std::vector<std::string> tensors,
               NameTable& names);

// Adds the row "<slot>.weight", read from "<tensor>.weight", and with
// Bias::kYes the row "<slot>.bias", read from "<tensor>.bias".
void AddWeights(const std::string& slot,
                const std::vector<std::string>& tensors, Bias bias,
                NameTable& names);

// AddWeights() for each entry of `list`. Its slot is preceded by `slot_prefix`
// ("encoder.{}."), its tensor by each of `tensor_prefixes`
// ({"model.encoder.layers.{}.", "encoder.layers.{}."}).
void AddList(const std::string& slot_prefix,
             const std::vector<std::string>& tensor_prefixes,
             absl::Span<const SlotName> list, Bias bias, NameTable& names);

// A table's slot, and the tensors that hold that table alone.
struct TableName {
  std::string slot;
  std::vector<std::string> tensors;
};

// Adds tables that are tied. Each table is read from its own tensor if the
// checkpoint has one, else from `shared`, else from the tensor of another
// table. Programs differ in how many copies of a tied table they save. A table
// of its own wins over the configuration, because it is what was trained.
void AddTied(const std::vector<TableName>& tables,
             const std::vector<std::string>& shared, NameTable& names);

// Adds the token tables of an encoder-decoder with one vocabulary: one table
// for both stacks and, if `tied`, for the logits.
void AddSharedTokens(bool tied, NameTable& names);

// Adds the decoder's token table, read from `in`, and the weights of the
// logits, read from `out`, or from `in` too if they are `tied`.
void AddInAndOut(bool tied, const std::vector<std::string>& in,
                 const std::vector<std::string>& out, NameTable& names);

// Adds the slots "self.q", "self.k" and "self.v" of one tensor, in which the
// queries that share a key and a value are followed by these.
void AddHeadSlices(const std::string& slot_prefix,
                   const AttentionSpec& attention,
                   const std::vector<std::string>& tensors, Bias bias,
                   NameTable& names);

// Adds slots that are equal slices of one tensor's rows, in this order.
void AddSlices(const std::string& slot_prefix,
               absl::Span<const char* const> slots,
               const std::vector<std::string>& tensors, Bias bias,
               NameTable& names);

// All combinations of a prefix and a tensor.
std::vector<std::string> WithPrefixes(const std::vector<std::string>& prefixes,
                                      const std::vector<std::string>& tensors);

// Lists tensors that may be in the checkpoint and are not needed: all
// combinations of a prefix and a tensor.
void AddUnused(const std::vector<std::string>& prefixes,
               const std::vector<std::string>& tensors, NameTable& names);

}  // namespace attend

#endif  // ATTEND_ENGINE_FAMILIES_SHARED_TENSOR_NAMES_H_
