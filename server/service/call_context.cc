#include "server/service/call_context.h"

#include <utility>

#include "server/service/model_table.h"

namespace attend {

// Refused or not, the call was for this model.
absl::Status CallContext::SetModel(std::shared_ptr<const ModelEntry> model,
                                   absl::string_view called) {
  model_ = std::move(model);
  called_ = std::string(called);
  return account().CheckModel(called_);
}

}  // namespace attend
