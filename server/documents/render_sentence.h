#ifndef ATTEND_SERVER_DOCUMENTS_RENDER_SENTENCE_H_
#define ATTEND_SERVER_DOCUMENTS_RENDER_SENTENCE_H_

#include <string>

#include "absl/types/span.h"
#include "server/documents/document.h"
#include "server/documents/sentence.h"
#include "server/documents/target_units.h"

namespace attend {

// Whether the alignment of a sentence's translation is needed to put its terms
// and tags where they belong.
bool NeedsAlignment(const Sentence& sentence);

// The translation of a sentence of the document, as the document has it: with
// the tags of the sentence around the words that were made from what they were
// around, with its terms, and escaped. All tags are there, nested as they were.
// `inner` has the rendered translations of the sentence's inner ones, in order.
std::string RenderSentence(const Document& document, const Sentence& sentence,
                           const TranslatedText& translated,
                           absl::Span<const std::string> inner = {});

}  // namespace attend

#endif  // ATTEND_SERVER_DOCUMENTS_RENDER_SENTENCE_H_
