#include "engine/runtime/head_of.h"

namespace attend {

const Head* HeadOf(const Transformer& transformer, EncoderTask::Layers layers) {
  switch (layers) {
    case EncoderTask::Layers::kNone:
      return nullptr;
    case EncoderTask::Layers::kEmbed:
      return &transformer.embed();
    case EncoderTask::Layers::kHead:
      return &transformer.head();
    case EncoderTask::Layers::kSparse:
      return &transformer.sparse();
    case EncoderTask::Layers::kTokens:
      return &transformer.tokens();
  }
  return nullptr;
}

}  // namespace attend
