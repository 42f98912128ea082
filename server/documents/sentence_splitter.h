#ifndef ATTEND_SERVER_DOCUMENTS_SENTENCE_SPLITTER_H_
#define ATTEND_SERVER_DOCUMENTS_SENTENCE_SPLITTER_H_

#include <vector>

#include "absl/strings/string_view.h"
#include "server/documents/text_breaks.h"

namespace attend {

// Sentences(), joined where a sentence goes on behind a mark that could end it:
// * inside of a literal: "https://example.com/a?b=c";
// * behind abbreviations of the language: "Mr. Smith";
// * behind initials: "the U.S. Navy", "John F. Kennedy"; but not before "The"
//   and the like: "Made in the U.S. The end";
// * behind direct speech: "\"Stop!\" she said.";
// * behind ordinal numbers of languages that write them with a full stop: "Am
//   3. Oktober".
// Form feeds and vertical tabs end a line. The mark of a note that follows a
// sentence ("A dog runs.[2] It") ends it, and is between the sentences; one
// with words ("[citation needed]") is a part of the sentence. What stands for a
// list's number ("1. One dog") is a sentence of its own.
std::vector<TextRange> SplitSentences(absl::string_view text,
                                      absl::string_view language);

}  // namespace attend

#endif  // ATTEND_SERVER_DOCUMENTS_SENTENCE_SPLITTER_H_
