#ifndef ATTEND_SERVER_SERVICE_MAX_SIM_H_
#define ATTEND_SERVER_SERVICE_MAX_SIM_H_

#include <vector>

#include "absl/types/span.h"

namespace attend {

// Vectors of a text's tokens; only those of `rows` count.
struct ComparedVectors {
  absl::Span<const float> values;  // [tokens, width]
  const std::vector<int>& rows;
};

// The sum over the query's vectors of the greatest product with a vector of the
// document (Khattab & Zaharia 2020). 0 if the document has no vectors.
float MaxSim(const ComparedVectors& query, const ComparedVectors& document,
             int width);

}  // namespace attend

#endif  // ATTEND_SERVER_SERVICE_MAX_SIM_H_
