#ifndef ATTEND_ENGINE_TRANSFORMER_SHARES_H_
#define ATTEND_ENGINE_TRANSFORMER_SHARES_H_

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "engine/ops/exec/exec_context.h"

namespace attend {

// With this many rows a member, or more, each member takes its share of the
// rows through all layers alone, and the members meet only at the end. A small
// model's operations take less time than a meeting after each of them.
inline constexpr int kRowsWorthAShare = 16;

// Calls work(member, context.alone(member)) for all members, in parallel.
// Returns the first error, or OK.
absl::Status RunShares(
    ExecContext& context,
    absl::FunctionRef<absl::Status(int member, ExecContext& alone)> work);

}  // namespace attend

#endif  // ATTEND_ENGINE_TRANSFORMER_SHARES_H_
