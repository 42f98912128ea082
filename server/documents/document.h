#ifndef ATTEND_SERVER_DOCUMENTS_DOCUMENT_H_
#define ATTEND_SERVER_DOCUMENTS_DOCUMENT_H_

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/documents/glossary.h"
#include "server/documents/long_sentences.h"
#include "server/documents/run.h"
#include "server/documents/run_source.h"
#include "server/documents/sentence.h"

namespace attend {

enum class DocumentFormat { kText, kHtml, kXml, kMarkdown };

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
  // A sentence that does not fit is cut.
  MeasureText measure;
  int max_sentences = 0;
  const Glossary* glossary = nullptr;  // not null
};

// Finds the sentences of a document.
//
// In text a line break ends a sentence. In HTML and XML a sentence goes on over
// line breaks and over elements inside of a line, and ends where a block ends:
// * HTML: as the element is known (see IsBlockElement()).
// * XML: an element is inside of a line if its parent has text of its own.
// Elements that are not to be translated are objects of a sentence, or end it.
// Texts of attributes (see AttributeTexts) are sentences of their own, or in
// Sentence::inner of the sentence that has their tag.
// In Markdown a sentence ends where a block or a cell of a table ends, and at a
// hard line break.
class DocumentReader {
 public:
  // INVALID_ARGUMENT if there is more markup than kMostMarkup, or kMostMarks of
  // Markdown. What `options`
  // refer to must outlive the reader.
  static absl::StatusOr<std::unique_ptr<DocumentReader>> Open(
      std::string source, DocumentOptions options);
  DocumentReader(const DocumentReader&) = delete;
  DocumentReader& operator=(const DocumentReader&) = delete;

  // Finds the sentences of the next `bytes` or more. True: all have been found.
  // OUT_OF_RANGE: there are too many. INVALID_ARGUMENT: there is more markup
  // than kMostMarkup.
  absl::StatusOr<bool> Read(size_t bytes);
  // Once all have been found.
  Document Take();

 private:
  DocumentReader(std::string source, DocumentOptions options);

  // False: there are no more runs.
  absl::StatusOr<bool> NextRun();
  // Those of the next block of text_, in which there are some bytes left.
  // Returns the size of the block.
  size_t FindSentences();
  std::string Unbroken() const;
  TextRange WithoutMarks(TextRange sentence) const;
  absl::Status AddPart(TextRange range);
  double Measure(absl::string_view text) const;

  const DocumentOptions options_;
  const MeasureText measure_ = [this](absl::string_view text) {
    return Measure(text);
  };
  Document document_;
  std::unique_ptr<RunSource> runs_;  // of markup
  bool is_read_ = false;             // of text: run_ has all of it
  Run run_;
  std::string text_;                  // of run_, as sentences are found in it
  size_t next_block_ = 0;             // of text_
  std::vector<TextRange> sentences_;  // of the block before
  size_t next_sentence_ = 0;
  std::optional<SentenceCutter> cutter_;  // of the sentence before
};

}  // namespace attend

#endif  // ATTEND_SERVER_DOCUMENTS_DOCUMENT_H_
