#ifndef ATTEND_ENGINE_TRANSFORMER_LOAD_ADAPTERS_H_
#define ATTEND_ENGINE_TRANSFORMER_LOAD_ADAPTERS_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "engine/checkpoint/weights.h"
#include "engine/layers/linear.h"
#include "engine/layers/table_adapters.h"
#include "engine/ops/exec/primitives.h"
#include "engine/transformer/load.h"

namespace attend {

// Loads the adapters of AdaptersSpec. Where the family's table does not list
// the slots of a map or a table, no adapter changes it. Errors name the tensor.

// Slots "<slot>.adapters.down" [count, rank, in] and "<slot>.adapters.up"
// [count, out, rank].
absl::Status LoadAdapters(Primitives& primitives, Weights& weights,
                          const std::string& slot, const LoadOptions& options,
                          Linear& linear);

// Loads the adapters of a table [entries, width]: slots "<slot>.adapters.down"
// [count, entries, rank] and "<slot>.adapters.up" [count, rank, width].
absl::StatusOr<TableAdapters> LoadTableAdapters(Weights& weights,
                                                const std::string& slot,
                                                int entries, int width,
                                                const LoadOptions& options);

}  // namespace attend

#endif  // ATTEND_ENGINE_TRANSFORMER_LOAD_ADAPTERS_H_
