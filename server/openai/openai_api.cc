#include "server/openai/openai_api.h"

#include "server/openai/openai_error.h"

namespace attend {

HttpApi OpenAiApi() {
  return {.methods =
              {
                  {"GET", "/v1/models", NewModelListTranslator},
                  {"GET", "/v1/models/*", NewModelTranslator},
              },
          .error = OpenAiError,
          .prefixes = {"/v1/"}};
}

}  // namespace attend
