#ifndef ATTEND_SERVER_DOCUMENTS_PLACE_TERMS_H_
#define ATTEND_SERVER_DOCUMENTS_PLACE_TERMS_H_

#include "server/documents/sentence.h"
#include "server/documents/target_units.h"

namespace attend {

// Puts the terms of a sentence where its translation has them: where it has
// the term, or the name that stood in for the term; else in place of the words
// that were made from it; else between the words that were made from what is
// beside it. Afterwards the translation has each term once, and no name that
// stood in.
void PlaceTerms(const Sentence& sentence, TargetUnits& units);

}  // namespace attend

#endif  // ATTEND_SERVER_DOCUMENTS_PLACE_TERMS_H_
