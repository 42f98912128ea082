#ifndef ATTEND_SERVER_SERVICE_CONSTRAINT_H_
#define ATTEND_SERVER_SERVICE_CONSTRAINT_H_

#include <memory>

#include "absl/status/statusor.h"
#include "attend/v1/attend.pb.h"
#include "engine/api/constraint.h"
#include "server/service/call_context.h"
#include "server/service/service.h"

namespace attend {

// Compiles the constraint of a request; null if it has none. Takes up to some
// seconds. INVALID_ARGUMENT names the field, and what is wrong with it.
// CANCELLED if `call` has been cancelled.
absl::StatusOr<std::shared_ptr<const Constraint>> ReadConstraint(
    const v1::GenerationParams& params, const ServedModel& model,
    const CallContext& call);

}  // namespace attend

#endif  // ATTEND_SERVER_SERVICE_CONSTRAINT_H_
