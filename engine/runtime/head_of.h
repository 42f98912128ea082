#ifndef ATTEND_ENGINE_RUNTIME_HEAD_OF_H_
#define ATTEND_ENGINE_RUNTIME_HEAD_OF_H_

#include <vector>

#include "engine/runtime/encoder_task.h"
#include "engine/transformer/head.h"
#include "engine/transformer/spec.h"
#include "engine/transformer/transformer.h"

namespace attend {

// Layers that vectors go through together: those of a route, for kEmbed.
struct HeadChoice {
  EncoderTask::Layers layers = EncoderTask::Layers::kNone;
  int route = 0;

  bool Has(const EncoderTask::Part& part) const {
    return part.layers == layers && part.route == route;
  }
};
// All that parts may choose.
std::vector<HeadChoice> HeadChoices(const TransformerSpec& spec);

// The transformer's head with these layers; null: there are no layers.
const Head* HeadOf(const Transformer& transformer, const HeadChoice& choice);

// Numbers of a vector that the layers read.
int WidthBefore(const HeadChoice& choice, const TransformerSpec& spec);

}  // namespace attend

#endif  // ATTEND_ENGINE_RUNTIME_HEAD_OF_H_
