#ifndef ATTEND_SERVER_DOCUMENTS_DOCUMENT_H_
#define ATTEND_SERVER_DOCUMENTS_DOCUMENT_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/documents/glossary.h"
#include "server/documents/sentence.h"

namespace attend {

enum class DocumentFormat { kText, kHtml, kXml };

// A document, and the sentences in it that are to be translated: those with a
// letter. Everything between them stays as it is, byte for byte.
struct Document {
  DocumentFormat format = DocumentFormat::kText;
  std::string source;                    // UTF-8
  std::vector<Sentence> sentences = {};  // in order, apart from each other
};

struct DocumentOptions {
  DocumentFormat format = DocumentFormat::kText;
  // Of the document; see Sentences().
  absl::string_view language = "";
  // Whether a model takes a text that long. A longer sentence is cut: behind a
  // comma or the like, else between words, else between characters.
  std::function<bool(absl::string_view)> fits;
  int max_sentences = 0;
  const Glossary* glossary = nullptr;  // not null
};

// Finds the sentences of a document. OUT_OF_RANGE if there are too many of
// them, INVALID_ARGUMENT if there is more markup than kMostMarkup.
//
// In text a line break ends a sentence. In HTML and XML a sentence goes on over
// line breaks and over elements inside of a line, and ends where a block ends:
// * HTML: as the element is known (see IsBlockElement()).
// * XML: an element is inside of a line if its parent has text of its own.
// Elements that are not to be translated are objects of a sentence, or end it.
absl::StatusOr<Document> ReadDocument(std::string source,
                                      const DocumentOptions& options);

}  // namespace attend

#endif  // ATTEND_SERVER_DOCUMENTS_DOCUMENT_H_
