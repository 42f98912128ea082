#ifndef ATTEND_ENGINE_FAMILIES_SHARED_LLAMA_LAYERS_H_
#define ATTEND_ENGINE_FAMILIES_SHARED_LLAMA_LAYERS_H_

#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "engine/families/shared/family.h"
#include "engine/families/shared/tensor_names.h"
#include "engine/json/json_file.h"

namespace attend {

// What the families after Llama share.

// Where one differs from it before its file says anything.
struct LlamaDefaults {
  absl::string_view activation = "silu";
  const char* activation_key = "hidden_act";
  int kv_heads = 0;  // 0: as many as heads
  int head_dim = 0;  // 0: hidden size / heads
  double epsilon = 1e-6;
  bool tied = false;
  int original_positions = 0;  // see RotaryDefaults
};

// Llama's decoder (Touvron et al. 2023) in the sizes of config.json: RMS norms
// before the branches, rotary positions, grouped heads, a gated feed-forward
// network, no biases. A family changes what differs.
absl::StatusOr<TransformerSpec> LlamaSpec(const JsonFile& config,
                                          const LlamaDefaults& defaults);

// Which layers see no farther back than a window, of those in
// spec.decoder->layers: "layer_types" of config.json, or where it has none
// those that `slides(i)`.
absl::Status SetWindows(const JsonFile& config, int window,
                        absl::FunctionRef<bool(int layer)> slides,
                        StackSpec& decoder);

// The same as Qwen says it: "sliding_window" counts if "use_sliding_window"
// does, for the layers from "max_window_layers" on.
absl::Status SetQwenWindows(const JsonFile& config, StackSpec& decoder);

// The same as one window of all layers: `fallback` where the file does not say;
// null or 0 is none.
absl::Status SetWindowOfAll(const JsonFile& config, int fallback,
                            StackSpec& decoder);

// Norms of each head's query and key, as those of the layer (Qwen3, Gemma 3).
void AddLlamaHeadNorms(Family& family);

// What the tensors of layer "{}" begin with.
const std::vector<std::string>& LlamaLayerPrefixes();
// Names of embeddings, last norm and head.
absl::Status AddLlamaEmbeddings(const JsonFile& config,
                                const LlamaDefaults& defaults,
                                NameTable& names);
// The same, and of the norms before the branches.
absl::Status AddLlamaTable(const JsonFile& config,
                           const LlamaDefaults& defaults, NameTable& names);
// Of the matrices of attention and feed-forward, one tensor each.
void AddLlamaQkv(Parts parts, NameTable& names);
void AddLlamaOut(Parts parts, NameTable& names);
void AddLlamaFeedForward(Parts parts, NameTable& names);

}  // namespace attend

#endif  // ATTEND_ENGINE_FAMILIES_SHARED_LLAMA_LAYERS_H_
