#ifndef ATTEND_ENGINE_RUNTIME_WORKER_MEMORY_H_
#define ATTEND_ENGINE_RUNTIME_WORKER_MEMORY_H_

#include "engine/api/engine.h"
#include "engine/cache/block_pool.h"
#include "engine/ops/exec/exec_context.h"
#include "engine/transformer/activations.h"
#include "engine/transformer/transformer.h"

namespace attend {

// The memory that both passes of a worker's steps use.
struct WorkerMemory {
  const Transformer& transformer;  // must outlive the memory
  ExecContext exec;
  BlockPool pool;
  Activations activations;
  StepCounts counts = {};
};

}  // namespace attend

#endif  // ATTEND_ENGINE_RUNTIME_WORKER_MEMORY_H_
