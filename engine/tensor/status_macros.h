#ifndef ATTEND_ENGINE_TENSOR_STATUS_MACROS_H_
#define ATTEND_ENGINE_TENSOR_STATUS_MACROS_H_

#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

// Returns from the enclosing function if `expression` is a non-OK status.
#define RETURN_IF_ERROR(expression)                                       \
  do {                                                                    \
    if (absl::Status attend_status = (expression); !attend_status.ok()) { \
      return attend_status;                                               \
    }                                                                     \
  } while (false)

#define ATTEND_CONCAT_INNER(x, y) x##y
#define ATTEND_CONCAT(x, y) ATTEND_CONCAT_INNER(x, y)
#define ATTEND_ASSIGN_OR_RETURN(result, left, expression) \
  auto result = (expression);                             \
  if (!result.ok()) return std::move(result).status();    \
  left = *std::move(result)

// Assigns the value of a StatusOr to `left`, or returns its status.
#define ASSIGN_OR_RETURN(left, expression)                               \
  ATTEND_ASSIGN_OR_RETURN(ATTEND_CONCAT(attend_result_, __LINE__), left, \
                          expression)

#endif  // ATTEND_ENGINE_TENSOR_STATUS_MACROS_H_
