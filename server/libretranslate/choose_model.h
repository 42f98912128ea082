#ifndef ATTEND_SERVER_LIBRETRANSLATE_CHOOSE_MODEL_H_
#define ATTEND_SERVER_LIBRETRANSLATE_CHOOSE_MODEL_H_

#include <string>

#include "absl/status/statusor.h"
#include "server/service/service.h"

namespace attend {

// The value of `source` that leaves the language to the server.
inline constexpr char kAutoLanguage[] = "auto";

// The model and the source language of a translation.
struct ChosenModel {
  std::string model;  // empty: the text is the translation
  std::string
      source;  // the language of the text, as the client or a model says
};

// Chooses the first model that translates from `source` to `target`, of those
// that the tenant may use. The source "auto" is the only language from which
// these models translate to `target`; nothing detects languages. A text whose
// source is its target needs no model. INVALID_ARGUMENT names the field whose
// language no model has.
absl::StatusOr<ChosenModel> ChooseModel(const std::string& source,
                                        const std::string& target,
                                        const Service& service,
                                        const CallContext& context);

}  // namespace attend

#endif  // ATTEND_SERVER_LIBRETRANSLATE_CHOOSE_MODEL_H_
