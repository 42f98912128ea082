#ifndef ATTEND_ENGINE_TOKENIZER_FILES_BYTE_CHARACTERS_H_
#define ATTEND_ENGINE_TOKENIZER_FILES_BYTE_CHARACTERS_H_

#include <string>

#include "absl/strings/string_view.h"

namespace attend {

// The spelling of bytes in GPT-2's vocabularies: a character for each.
std::string SpellBytes(absl::string_view bytes);

}  // namespace attend

#endif  // ATTEND_ENGINE_TOKENIZER_FILES_BYTE_CHARACTERS_H_
