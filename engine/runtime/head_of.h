#ifndef ATTEND_ENGINE_RUNTIME_HEAD_OF_H_
#define ATTEND_ENGINE_RUNTIME_HEAD_OF_H_

#include "engine/runtime/encoder_task.h"
#include "engine/transformer/head.h"
#include "engine/transformer/transformer.h"

namespace attend {

// The transformer's head with these layers; null: there are no layers.
const Head* HeadOf(const Transformer& transformer, EncoderTask::Layers layers);

}  // namespace attend

#endif  // ATTEND_ENGINE_RUNTIME_HEAD_OF_H_
