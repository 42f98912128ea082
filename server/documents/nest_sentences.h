#ifndef ATTEND_SERVER_DOCUMENTS_NEST_SENTENCES_H_
#define ATTEND_SERVER_DOCUMENTS_NEST_SENTENCES_H_

#include <vector>

#include "server/documents/sentence.h"

namespace attend {

// Puts the sentences of a document in order. Those that are inside of a tag or
// an object of another one become Sentence::inner of that one.
std::vector<Sentence> NestSentences(std::vector<Sentence> sentences);

}  // namespace attend

#endif  // ATTEND_SERVER_DOCUMENTS_NEST_SENTENCES_H_
