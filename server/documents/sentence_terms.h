#ifndef ATTEND_SERVER_DOCUMENTS_SENTENCE_TERMS_H_
#define ATTEND_SERVER_DOCUMENTS_SENTENCE_TERMS_H_

#include <vector>

#include "absl/strings/string_view.h"
#include "server/documents/glossary.h"
#include "server/documents/run.h"
#include "server/documents/sentence.h"
#include "server/documents/text_breaks.h"

namespace attend {

// A stand-in in a sentence for bytes `range` of the run's text.
struct SentenceTerm {
  TextRange range;
  FixedTerm fixed;
};

// The terms in bytes `range` of the run's text: objects, literals, marks of
// notes and words of the glossary; in order, apart from each other.
std::vector<SentenceTerm> TermsOf(absl::string_view document, const Run& run,
                                  TextRange range, const Glossary& glossary);

}  // namespace attend

#endif  // ATTEND_SERVER_DOCUMENTS_SENTENCE_TERMS_H_
