#ifndef ATTEND_ENGINE_RUNTIME_LOAD_DRAFT_H_
#define ATTEND_ENGINE_RUNTIME_LOAD_DRAFT_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "engine/compute/compute.h"
#include "engine/compute/isa.h"
#include "engine/compute/memory_limit.h"
#include "engine/ops/exec/compute_type.h"
#include "engine/runtime/draft_model.h"
#include "engine/runtime/engine_options.h"
#include "engine/runtime/model_files.h"

namespace attend {

// The files of a draft model, checked against those of the model that it drafts
// for.
struct DraftFiles {
  ModelFiles files;
  DraftModel model;  // without its transformer
};

// A model for which another one is to draft.
struct DraftTarget {
  const ModelFiles& files;
  const std::string& path;
  ComputeType dtype;
};

// Opens the draft model at `path`; `options` are those of the target.
// INVALID_ARGUMENT if one of them does not generate, if one has an encoder and
// the other has none, or if their tokens differ: names both models and the
// first difference.
absl::StatusOr<DraftFiles> OpenDraft(const std::string& path,
                                     const DraftTarget& target, Isa isa,
                                     const EngineOptions& options);

// Lower bounds of the memory that the draft model takes.
std::vector<MemoryNeed> DraftNeeds(const DraftFiles& draft);

// Reads the weights.
absl::StatusOr<std::unique_ptr<const DraftModel>> LoadDraft(Compute& compute,
                                                            DraftFiles draft);

}  // namespace attend

#endif  // ATTEND_ENGINE_RUNTIME_LOAD_DRAFT_H_
