#include "engine/decoding/search.h"

#include "engine/decoding/beam_search.h"
#include "engine/decoding/force_words_search.h"
#include "engine/decoding/sampling_search.h"

namespace attend {

std::unique_ptr<Search> MakeSearch(const SearchInput& input) {
  if (!input.params.force_words.empty()) {
    return std::make_unique<ForceWordsSearch>(input);
  }
  if (input.params.num_beams > 1) return std::make_unique<BeamSearch>(input);
  return std::make_unique<SamplingSearch>(input);
}

}  // namespace attend
