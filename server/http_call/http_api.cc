#include "server/http_call/http_api.h"

namespace attend {

std::vector<std::string> AllMethodNames(const std::vector<Method>& methods,
                                        const std::vector<HttpApi>& apis) {
  std::vector<std::string> names = MethodNames(methods);
  for (const HttpApi& api : apis) {
    for (const HttpMethod& method : api.methods) {
      names.emplace_back(method.path);
    }
  }
  return names;
}

}  // namespace attend
