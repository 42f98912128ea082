#ifndef ATTEND_SERVER_DOCUMENTS_SENTENCE_H_
#define ATTEND_SERVER_DOCUMENTS_SENTENCE_H_

#include <string>
#include <utility>
#include <vector>

#include "server/documents/glossary.h"
#include "server/documents/run.h"
#include "server/documents/text_breaks.h"

namespace attend {

// Words of a sentence whose translation is known.
struct FixedTerm {
  TextRange range = {};  // of Sentence::text
  std::string written;   // what the translation has for them, unescaped
  // Not a text but bytes of the document, which are not escaped.
  bool raw = false;
  // Sentence::text has a name in the term's place, which must not stay.
  bool stand_in = false;
  TextRange source = {};  // of `raw`: in the document
};

// A tag, or a comment, inside of a sentence.
struct SentenceTag {
  enum Kind {
    kOpen,       // with the end tag at `partner`
    kClose,      // with the start tag at `partner`
    kOpenOnly,   // the element ends in a later sentence
    kCloseOnly,  // the element began in an earlier sentence
    kEmpty,
  };
  Kind kind = kEmpty;
  int position = 0;          // in Sentence::text
  int partner = -1;          // index of the tag
  TextRange source;          // in the document
  std::string written = {};  // as Run::Tag's
  bool spaced = false;       // white space is before it and behind it
};

// A sentence of a document, as a model reads it.
struct Sentence {
  Escaping escaping = Escaping::kNone;  // of its translation
  TextRange source;                     // in the document, tags included
  std::string text;  // without markup; one space for each white space
  std::vector<SentenceTag> tags;  // in order
  std::vector<FixedTerm> terms;   // in order, apart from each other
  // Characters that a text without markup has as references, and these
  // references: a translation has them so, too.
  std::vector<std::pair<std::string, std::string>> references = {};
  // The texts in its tags and objects: values of attributes, descriptions of
  // pictures. In order, apart from each other; they have no inner ones.
  std::vector<Sentence> inner = {};
};

// Makes the sentence of bytes `range` of the run's text, which begins and ends
// with characters that are no white space.
Sentence MakeSentence(absl::string_view document, const Run& run,
                      TextRange range, const Glossary& glossary);

}  // namespace attend

#endif  // ATTEND_SERVER_DOCUMENTS_SENTENCE_H_
