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

// What the families that follow Llama share.

// The defaults of a family, where they may differ from Llama's.
struct LlamaDefaults {
  absl::string_view activation = "silu";
  const char* activation_key = "hidden_act";
  int kv_heads = 0;  // 0: as many as heads
  int head_dim = 0;  // 0: hidden size / heads
  NormKind norm = NormKind::kRmsNorm;
  Bias norm_bias = Bias::kNo;
  const char* epsilon_key = "rms_norm_eps";
  double epsilon = 1e-6;
  double theta = 10000;  // rotary base
  bool gated = true;     // the feed-forward network
  bool tied = false;
  // See RotaryDefaults.
  int original_positions = 0;
  bool partial = false;
  double fraction = 1;  // with `partial`
  bool recomputes = false;
};

// Llama's decoder (Touvron et al. 2023) with the sizes of config.json: pre-norm
// with RMSNorm, rotary positions, grouped heads, a gated feed-forward network,
// no biases. The family then changes whatever differs.
absl::StatusOr<TransformerSpec> LlamaSpec(const JsonFile& config,
                                          const LlamaDefaults& defaults);

// Sets the window of the layers that do not see all tokens. Which layers these
// are is said by "layer_types" of config.json; if it has none, by `slides`.
absl::Status SetWindows(const JsonFile& config, int window,
                        absl::FunctionRef<bool(int layer)> slides,
                        StackSpec& decoder);

// The same for Qwen: "sliding_window" is used if "use_sliding_window" is true,
// by the layers from "max_window_layers" on.
absl::Status SetQwenWindows(const JsonFile& config, StackSpec& decoder);

// Sets one window for all layers: "sliding_window", or `fallback` if that is
// absent. null or 0 in the file means no window.
absl::Status SetWindowOfAll(const JsonFile& config, int fallback,
                            StackSpec& decoder);

// Adds norms of each head's query and key, of the same kind as the layer's
// norms (Qwen3, Gemma 3).
void AddLlamaHeadNorms(Family& family);

// Gives layers norms of the branches alone: x + norm(f(x)) (OLMo 2).
void NormBranchesAlone(Family& family);

// Queries and keys are stored with numbers that are rotated together next to
// each other, as the original of GPT-J has them. To be called when their names
// are there, without norms of heads.
void InterleaveRotated(Family& family);

// The prefixes of the tensors of layer "{}".
const std::vector<std::string>& LlamaLayerPrefixes();
// Adds the names of the embedding, the last norm and the logits.
absl::Status AddLlamaEmbeddings(const JsonFile& config,
                                const LlamaDefaults& defaults,
                                NameTable& names);
// The same, and the names of the norms before the branches.
absl::Status AddLlamaTable(const JsonFile& config,
                           const LlamaDefaults& defaults, NameTable& names);
// Adds one norm that both branches read.
void AddLlamaOneNorm(Bias bias, NameTable& names);
// Add the names of the matrices of attention and feed-forward, where each
// matrix is a tensor of its own.
void AddLlamaQkv(Bias bias, NameTable& names);
void AddLlamaOut(Bias bias, NameTable& names);
void AddLlamaFeedForward(Bias bias, NameTable& names);
// The same of a network without a gate, and of one whose gate and value are one
// tensor.
void AddLlamaPlainFeedForward(Bias bias, NameTable& names);
void AddLlamaPackedFeedForward(NameTable& names);

}  // namespace attend

#endif  // ATTEND_ENGINE_FAMILIES_SHARED_LLAMA_LAYERS_H_
