#include "server/service/call_context.h"

#include <utility>

#include "server/service/model_table.h"

namespace attend {

void CallContext::SetModel(std::shared_ptr<const ModelEntry> model,
                           absl::string_view called) {
  model_ = std::move(model);
  called_ = std::string(called);
}

}  // namespace attend
