#include "server/libretranslate/libretranslate_api.h"

#include <string>

#include "server/http_call/json_value.h"

namespace attend {
namespace {

HttpErrorBody LibreTranslateError(const absl::Status& status, int) {
  return {.text = DumpJson(Json{{"error", std::string(status.message())}})};
}

}  // namespace

HttpApi LibreTranslateApi() {
  return {.methods =
              {
                  {"POST", "/translate", NewLibreTranslateTranslator,
                   "Translates texts and HTML.", LibreTranslateFieldList},
                  {"GET", "/languages", NewLanguagesTranslator,
                   "The languages of all models, and what each can be "
                   "translated to."},
              },
          .error = LibreTranslateError,
          .prefixes = {"/detect", "/frontend/", "/suggest"}};
}

}  // namespace attend
