#ifndef ATTEND_ENGINE_DECODING_SHORTLIST_H_
#define ATTEND_ENGINE_DECODING_SHORTLIST_H_

#include <cstddef>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/types/span.h"
#include "engine/api/generation_params.h"

namespace attend {

// A lexical shortlist (Jean et al. 2015; L'Hostis et al. 2016): which target
// tokens the translations of a source may have, by the tokens of the source. A
// softmax over few tokens is faster than one over the vocabulary. Const once it
// is filled.
class Shortlist {
 public:
  // `vocab`: width of the logits; all target ids are below it.
  explicit Shortlist(int vocab) : vocab_(vocab), is_always_(vocab) {}

  // More targets of every source.
  void AddAlways(absl::Span<const int> targets);
  // The targets of a source that has these tokens one after the other, at least
  // one; instead of those that an earlier call gave.
  void Set(std::vector<int> source, std::vector<int> targets);

  // The number of token sequences with targets.
  size_t size() const { return targets_.size(); }

  // The tokens that a generation may choose from, ascending: the targets of the
  // source, and those that the parameters name as an end or as wanted. Empty:
  // all tokens, because a constraint says what may follow.
  std::vector<int> Find(absl::Span<const int> source,
                        const GenerationParams& params) const;

 private:
  const int vocab_;
  std::vector<int> always_;  // each once
  std::vector<bool> is_always_;
  size_t longest_ = 0;  // tokens of a sequence
  absl::flat_hash_map<std::vector<int>, std::vector<int>> targets_;
};

}  // namespace attend

#endif  // ATTEND_ENGINE_DECODING_SHORTLIST_H_
