#ifndef ATTEND_SERVER_DOCUMENTS_PLACE_TAGS_H_
#define ATTEND_SERVER_DOCUMENTS_PLACE_TAGS_H_

#include <memory>
#include <vector>

#include "server/documents/sentence.h"
#include "server/documents/target_units.h"
#include "server/documents/text_breaks.h"

namespace attend {

// An element of a sentence, or a tag alone, and the units of the translation
// that it is around.
struct PlacedElement {
  int open = -1;     // index of the sentence's tags; -1: in an earlier sentence
  int close = -1;    // -1: in a later sentence, or there is none
  TextRange source;  // of Sentence::text
  TextRange units;   // empty: between two units
  std::vector<std::unique_ptr<PlacedElement>> inner = {};  // by units, in order
};

// Places all tags of a sentence: an element around the units that were made
// from its words, and nothing else; elements inside of it around some of these.
// The result is around all units. Null if there are more tags, or deeper ones,
// than a sentence may have (kMostTags, kDeepestTag).
inline constexpr int kMostTags = 512;
inline constexpr int kDeepestTag = 64;
std::unique_ptr<PlacedElement> PlaceTags(const Sentence& sentence,
                                         const TargetUnits& units);

}  // namespace attend

#endif  // ATTEND_SERVER_DOCUMENTS_PLACE_TAGS_H_
