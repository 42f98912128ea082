#include "server/service/call_context.h"

#include <utility>

#include "server/service/model_table.h"

namespace attend {

// Refused or not, the call was for this model.
absl::Status CallContext::SetModel(std::shared_ptr<const ModelEntry> model) {
  model_ = std::move(model);
  return account().CheckModel(model_->name);
}

}  // namespace attend
