// Phi-3, Phi-3.5 and Phi-4: Abdin et al. 2024.

#include <string>

#include "absl/status/statusor.h"
#include "engine/families/load_family.h"
#include "engine/families/shared/config_fields.h"
#include "engine/families/shared/decoder_heads.h"
#include "engine/families/shared/llama_layers.h"
#include "engine/families/shared/tensor_names.h"
#include "engine/tensor/status_macros.h"

namespace attend {
namespace {

// One tensor holds queries, keys and values. A slice is a head; keys and values
// have fewer heads.
void AddQkv(const AttentionSpec& attention, NameTable& names) {
  const int total = attention.heads + 2 * attention.kv_heads;
  const auto add = [&](const char* slot, int first, int heads) {
    AddTensor(std::string("decoder.{}.self.") + slot + ".weight",
              WithPrefixes(LlamaLayerPrefixes(), {"self_attn.qkv_proj.weight"}),
              names);
    names.rows.back().slices = {.first = first, .taken = heads, .total = total};
  };
  add("q", 0, attention.heads);
  add("k", attention.heads, attention.kv_heads);
  add("v", attention.heads + attention.kv_heads, attention.kv_heads);
}

}  // namespace

absl::StatusOr<Family> LoadPhi3(const JsonFile& config) {
  RETURN_IF_ERROR(CheckDecoderAlone(config));
  const LlamaDefaults defaults = {.epsilon = 1e-5,
                                  .original_positions = 4096,
                                  .partial = true,
                                  .recomputes = true};
  Family family;
  ASSIGN_OR_RETURN(family.spec, LlamaSpec(config, defaults));
  StackSpec& decoder = *family.spec.decoder;
  RETURN_IF_ERROR(SetWindowOfAll(config, 0, decoder));
  RETURN_IF_ERROR(AddLlamaTable(config, defaults, family.names));
  AddQkv(decoder.layers.front().self_attention, family.names);
  AddLlamaOut(Bias::kNo, family.names);
  AddLlamaPackedFeedForward(family.names);
  RETURN_IF_ERROR(
      UseDecoderAs(config, {.name = "Phi3", .padding_id = 32000}, family));
  return family;
}

}  // namespace attend
