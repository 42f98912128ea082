#ifndef ATTEND_SERVER_LIBRETRANSLATE_LIBRETRANSLATE_API_H_
#define ATTEND_SERVER_LIBRETRANSLATE_LIBRETRANSLATE_API_H_

#include <memory>
#include <vector>

#include "server/http_call/http_api.h"

namespace attend {

// A translator for each route.
std::unique_ptr<HttpTranslator> NewLibreTranslateTranslator();
std::unique_ptr<HttpTranslator> NewLanguagesTranslator();
// The fields of a request to translate.
std::vector<FieldHelp> LibreTranslateFieldList();

// LibreTranslate's API, for translations. Nothing here detects languages, so
// there is no /detect; for the source "auto" see ChooseModel().
HttpApi LibreTranslateApi();

}  // namespace attend

#endif  // ATTEND_SERVER_LIBRETRANSLATE_LIBRETRANSLATE_API_H_
