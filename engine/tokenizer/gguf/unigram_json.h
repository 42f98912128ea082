#ifndef ATTEND_ENGINE_TOKENIZER_GGUF_UNIGRAM_JSON_H_
#define ATTEND_ENGINE_TOKENIZER_GGUF_UNIGRAM_JSON_H_

#include <string>

#include "absl/status/statusor.h"
#include "engine/json/json_file.h"
#include "engine/tokenizer/gguf/gguf_vocabulary.h"
#include "engine/tokenizer/text/hf_config.h"

namespace attend {

// A tokenizer.json for a vocabulary of model "t5": SentencePiece's unigram
// model (Kudo 2018) with its table of replacements, used as T5 uses it or, for
// the architecture "bert", as XLM-RoBERTa does. Sets what `config` needs for
// that. INVALID_ARGUMENT names the key of `metadata`,
// its value and what is supported.
absl::StatusOr<std::string> UnigramJson(const JsonFile& metadata,
                                        const GgufVocabulary& vocabulary,
                                        HfConfig& config);

}  // namespace attend

#endif  // ATTEND_ENGINE_TOKENIZER_GGUF_UNIGRAM_JSON_H_
