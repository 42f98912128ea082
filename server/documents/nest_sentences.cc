#include "server/documents/nest_sentences.h"

#include <algorithm>
#include <utility>

namespace attend {

std::vector<Sentence> NestSentences(std::vector<Sentence> sentences) {
  std::stable_sort(sentences.begin(), sentences.end(),
                   [](const Sentence& a, const Sentence& b) {
                     return std::pair(a.source.begin, -a.source.end) <
                            std::pair(b.source.begin, -b.source.end);
                   });
  std::vector<Sentence> outer;
  for (Sentence& sentence : sentences) {
    if (outer.empty() || outer.back().source.end <= sentence.source.begin) {
      outer.push_back(std::move(sentence));
    } else {
      outer.back().inner.push_back(std::move(sentence));
    }
  }
  return outer;
}

}  // namespace attend
