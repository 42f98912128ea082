#ifndef ATTEND_ENGINE_CHECKPOINT_GGUF_GGUF_METADATA_H_
#define ATTEND_ENGINE_CHECKPOINT_GGUF_GGUF_METADATA_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "engine/checkpoint/gguf/byte_reader.h"
#include "engine/json/json_file.h"

namespace attend {

// Reads the `count` keys and values after the header of a GGUF file, as an
// object: {"llama.block_count": 30, "tokenizer.ggml.tokens": ["<s>", ...]}.
// INVALID_ARGUMENT names the file, the key and the place: what follows is cut,
// a type is unknown, a key occurs twice, a text is not UTF-8, an array is in an
// array, or there are more than kMaxKeys keys or kMaxElements elements in all
// arrays. RESOURCE_EXHAUSTED if the process may not have the memory. A number
// that is not finite is null.
inline constexpr uint64_t kMaxKeys = 1 << 16;
inline constexpr uint64_t kMaxElements = 1 << 22;
absl::StatusOr<JsonFile> ReadGgufMetadata(ByteReader& reader, uint64_t count);

}  // namespace attend

#endif  // ATTEND_ENGINE_CHECKPOINT_GGUF_GGUF_METADATA_H_
