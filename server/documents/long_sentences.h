#ifndef ATTEND_SERVER_DOCUMENTS_LONG_SENTENCES_H_
#define ATTEND_SERVER_DOCUMENTS_LONG_SENTENCES_H_

#include <functional>
#include <vector>

#include "absl/strings/string_view.h"
#include "server/documents/text_breaks.h"

namespace attend {

// Cuts a sentence until all parts fit, as near to the middle as it can: behind
// a comma, colon or the like; else between words; else between characters. The
// parts are without the white space around them.
std::vector<TextRange> CutToFit(
    absl::string_view text, TextRange sentence,
    const std::function<bool(absl::string_view)>& fits);

}  // namespace attend

#endif  // ATTEND_SERVER_DOCUMENTS_LONG_SENTENCES_H_
