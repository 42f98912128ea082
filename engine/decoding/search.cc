#include "engine/decoding/search.h"

#include "engine/decoding/beam_search.h"
#include "engine/decoding/sampling_search.h"

namespace attend {

std::unique_ptr<Search> MakeSearch(const GenerationParams& params, int vocab,
                                   absl::Span<const std::string> token_texts) {
  if (params.num_beams > 1) {
    return std::make_unique<BeamSearch>(params, vocab, token_texts);
  }
  return std::make_unique<SamplingSearch>(params, vocab, token_texts);
}

}  // namespace attend
