#ifndef ATTEND_ENGINE_TRANSFORMER_SHARES_H_
#define ATTEND_ENGINE_TRANSFORMER_SHARES_H_

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "engine/ops/exec/exec_context.h"

namespace attend {

// With so many rows for each member, or more, members take their shares of the
// rows through all layers side by side and meet only at the end; a small
// model's ops are shorter than what meeting after each of them costs.
inline constexpr int kRowsWorthAShare = 16;

// Calls work(member, context.alone(member)) for all members at once. Returns an
// error if one did.
absl::Status RunShares(
    ExecContext& context,
    absl::FunctionRef<absl::Status(int member, ExecContext& alone)> work);

}  // namespace attend

#endif  // ATTEND_ENGINE_TRANSFORMER_SHARES_H_
