#include "server/connect/connect_api.h"

#include <memory>

#include "absl/strings/str_cat.h"
#include "engine/tensor/check.h"
#include "server/connect/connect_error.h"
#include "server/connect/connect_translator.h"

namespace attend {

HttpApi ConnectApi(absl::Span<const Method> methods) {
  HttpApi api = {.methods = {},
                 .error = ConnectError,
                 .http_status = ConnectHttpStatus,
                 .prefixes = {"/attend."}};
  for (const Method& method : methods) {
    ATTEND_CHECK(method.descriptor != nullptr);
    api.methods.push_back(
        {.verb = "POST",
         .path = absl::StrCat("/", method.descriptor->service()->full_name(),
                              "/", method.descriptor->name()),
         .make = [method] {
           return std::make_unique<ConnectTranslator>(method);
         }});
  }
  return api;
}

}  // namespace attend
