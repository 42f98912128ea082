#ifndef ATTEND_SERVER_SERVICE_DESCRIBE_MODEL_H_
#define ATTEND_SERVER_SERVICE_DESCRIBE_MODEL_H_

#include "attend/v1/attend.pb.h"
#include "server/service/model_table.h"

namespace attend {

// A model as ListModels, GetModel and LoadModel tell of it.
v1::Model DescribeModel(const ModelEntry& entry);

}  // namespace attend

#endif  // ATTEND_SERVER_SERVICE_DESCRIBE_MODEL_H_
