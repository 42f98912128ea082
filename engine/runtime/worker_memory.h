#ifndef ATTEND_ENGINE_RUNTIME_WORKER_MEMORY_H_
#define ATTEND_ENGINE_RUNTIME_WORKER_MEMORY_H_

#include <vector>

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
  std::vector<int> spared = {};  // rows, of each piece of a step

  void Spare(int piece, int rows) {
    spared[piece] = rows;
    counts.spared_rows += rows;
  }
};

}  // namespace attend

#endif  // ATTEND_ENGINE_RUNTIME_WORKER_MEMORY_H_
