#ifndef ATTEND_TESTS_SERVER_DOCUMENTS_RANDOM_MARKUP_H_
#define ATTEND_TESTS_SERVER_DOCUMENTS_RANDOM_MARKUP_H_

#include <cstdint>
#include <string>
#include <vector>

namespace attend {

// Well-formed XML that is HTML, too: blocks, inline elements in each other
// around words, parts of words, spaces and whole sentences, elements without
// content, comments, character references. Each tag has a number of its own.
std::string RandomMarkup(uint32_t seed);

// A text cut at its tags and comments, by a rule that is good for RandomMarkup.
struct Markup {
  std::vector<std::string> tags;  // in order
  std::string text;               // unescaped
};
Markup Strip(const std::string& marked_up);

// Whether each element ends where it has to.
bool IsWellFormed(const std::vector<std::string>& tags);

}  // namespace attend

#endif  // ATTEND_TESTS_SERVER_DOCUMENTS_RANDOM_MARKUP_H_
