#ifndef ATTEND_SERVER_DOCUMENTS_GLOSSARY_H_
#define ATTEND_SERVER_DOCUMENTS_GLOSSARY_H_

#include <map>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "server/documents/text_breaks.h"

namespace attend {

// Terms whose translations are given. Immutable once all terms are there.
class Glossary {
 public:
  // A term without capitals is found in any case ("dog", "Dog", "DOG"); others
  // are found as they are written. Accents may be written in any way that
  // Unicode counts as equal (NFC, NFD). Of two equal terms the later one
  // counts. False: the term has no word, or more than kMostWords.
  static constexpr int kMostWords = 16;
  bool Add(absl::string_view term, absl::string_view target);

  bool empty() const { return root_.next.empty(); }

  // The terms in a text, in order, apart from each other: whole words, as many
  // as there are in a term. White space between words may differ.
  struct Match {
    TextRange range;
    const std::string* target = nullptr;  // of the glossary
  };
  std::vector<Match> Find(absl::string_view text) const;

 private:
  // The terms that begin with the same words, folded.
  struct Node {
    std::map<std::string, Node, std::less<>> next;  // by the next word
    bool ends = false;                              // a term ends here
    // The words of that term as they have to be; empty: in any case.
    std::vector<std::string> words;
    std::string target;
  };

  Node root_;
};

}  // namespace attend

#endif  // ATTEND_SERVER_DOCUMENTS_GLOSSARY_H_
