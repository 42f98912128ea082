#ifndef ATTEND_SERVER_SERVICE_CLASSIFY_FIELDS_H_
#define ATTEND_SERVER_SERVICE_CLASSIFY_FIELDS_H_

#include "absl/status/status.h"
#include "attend/v1/attend.pb.h"
#include "engine/api/model_info.h"

namespace attend {

// Checks the fields of a request to Classify that only some models take, or
// that exclude each other. INVALID_ARGUMENT names the field.
absl::Status CheckClassifyFields(const v1::ClassifyRequest& request,
                                 const ModelInfo& model);

}  // namespace attend

#endif  // ATTEND_SERVER_SERVICE_CLASSIFY_FIELDS_H_
