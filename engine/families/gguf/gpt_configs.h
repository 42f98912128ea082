#ifndef ATTEND_ENGINE_FAMILIES_GGUF_GPT_CONFIGS_H_
#define ATTEND_ENGINE_FAMILIES_GGUF_GPT_CONFIGS_H_

#include "absl/status/status.h"
#include "engine/families/gguf/gguf_config.h"

namespace attend {

// Fill a GgufConfig for decoders whose feed-forward networks have no gate, from
// the keys that llama.cpp's converter writes for them. INVALID_ARGUMENT names
// the file, the key and its value.
absl::Status ConfigureBloom(GgufConfig& config);
absl::Status ConfigureGpt2(GgufConfig& config);
absl::Status ConfigureGptNeoX(GgufConfig& config);
absl::Status ConfigureMpt(GgufConfig& config);
absl::Status ConfigureStarcoder2(GgufConfig& config);

}  // namespace attend

#endif  // ATTEND_ENGINE_FAMILIES_GGUF_GPT_CONFIGS_H_
