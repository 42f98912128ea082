#ifndef ATTEND_ENGINE_FAMILIES_SHARED_DEBERTA_H_
#define ATTEND_ENGINE_FAMILIES_SHARED_DEBERTA_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "engine/families/shared/encoder_heads.h"
#include "engine/families/shared/tensor_names.h"
#include "engine/json/json_file.h"
#include "engine/transformer/spec.h"

namespace attend {

// The parts that DeBERTa (He et al. 2021) and its later versions share.

// The encoder with the sizes of config.json. A convolution beside the first
// layer, as in DeBERTa v2 XL, is refused.
absl::StatusOr<TransformerSpec> DebertaSpec(const JsonFile& config);

// The prefixes of the tensors of layer "{}".
const std::vector<std::string>& DebertaLayerPrefixes();
// Adds the names of the embedding, of the vectors of distances, and of what
// layers have but for queries, keys and values.
void AddDebertaEncoder(const StackSpec& encoder, NameTable& names);

absl::StatusOr<UsualHeads> DebertaHeads(const JsonFile& config,
                                        const TransformerSpec& spec);
// Lists the tensors of heads that checkpoints have beside a bare model.
void AddDebertaHeadsUnused(NameTable& names);

}  // namespace attend

#endif  // ATTEND_ENGINE_FAMILIES_SHARED_DEBERTA_H_
