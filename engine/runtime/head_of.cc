#include "engine/runtime/head_of.h"

namespace attend {

std::vector<HeadChoice> HeadChoices(const TransformerSpec& spec) {
  using Layers = EncoderTask::Layers;
  std::vector<HeadChoice> choices;
  for (const Layers layers :
       {Layers::kNone, Layers::kHead, Layers::kSparse, Layers::kTokens}) {
    choices.push_back({layers});
  }
  for (int route = 0; route < spec.Routes(); ++route) {
    choices.push_back({Layers::kEmbed, route});
  }
  return choices;
}

const Head* HeadOf(const Transformer& transformer, const HeadChoice& choice) {
  switch (choice.layers) {
    case EncoderTask::Layers::kNone:
      return nullptr;
    case EncoderTask::Layers::kEmbed:
      return &transformer.embed(choice.route);
    case EncoderTask::Layers::kHead:
      return &transformer.head();
    case EncoderTask::Layers::kSparse:
      return &transformer.sparse();
    case EncoderTask::Layers::kTokens:
      return &transformer.tokens();
  }
  return nullptr;
}

int WidthBefore(const HeadChoice& choice, const TransformerSpec& spec) {
  return choice.layers == EncoderTask::Layers::kEmbed
             ? spec.PooledWidth(choice.route)
             : spec.hidden;
}

}  // namespace attend
