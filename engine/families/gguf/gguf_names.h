#ifndef ATTEND_ENGINE_FAMILIES_GGUF_GGUF_NAMES_H_
#define ATTEND_ENGINE_FAMILIES_GGUF_GGUF_NAMES_H_

#include "engine/checkpoint/gguf/gguf_file.h"
#include "engine/checkpoint/weights.h"
#include "engine/transformer/spec.h"

namespace attend {

// Tables of the tensors in GGUF files, under llama.cpp's names. A matrix has a
// bias if the first layer's matrix has one in the file.

// Llama's relatives. Queries and keys are `interleaved` in Llama: see
// TensorSlices.
NameTable LlamaGgufNames(const GgufFile& file, const TransformerSpec& spec,
                         bool interleaved);
// GPT-2 and other decoders whose feed-forward networks have no gate: GPT-NeoX,
// BLOOM, MPT and StarCoder2.
NameTable GptGgufNames(const GgufFile& file, const TransformerSpec& spec);
// BERT and its relatives.
NameTable BertGgufNames(const GgufFile& file, const TransformerSpec& spec);
// T5.
NameTable T5GgufNames(const GgufFile& file, const TransformerSpec& spec);

}  // namespace attend

#endif  // ATTEND_ENGINE_FAMILIES_GGUF_GGUF_NAMES_H_
