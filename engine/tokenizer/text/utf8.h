#ifndef ATTEND_ENGINE_TOKENIZER_TEXT_UTF8_H_
#define ATTEND_ENGINE_TOKENIZER_TEXT_UTF8_H_

#include "absl/strings/string_view.h"
#include "engine/json/utf8.h"  // IWYU pragma: export

namespace attend {

// SentencePiece's mark of a space, U+2581.
inline constexpr absl::string_view kSpaceMark = "\xe2\x96\x81";

// Whether Python's str.strip() removes `character`.
bool IsSpace(absl::string_view character);

}  // namespace attend

#endif  // ATTEND_ENGINE_TOKENIZER_TEXT_UTF8_H_
