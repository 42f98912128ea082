#include "server/libretranslate/form_body.h"

#include <string>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "engine/tensor/status_macros.h"
#include "engine/tokenizer/text/utf8.h"
#include "server/http/url_decode.h"
#include "server/http_call/http_status.h"

namespace attend {
namespace {

// No form of this API has more.
constexpr size_t kMostFields = 100;

absl::StatusOr<std::string> Decode(absl::string_view part) {
  ASSIGN_OR_RETURN(std::string text, DecodeUrl(part, UrlPart::kForm));
  if (FindInvalidUtf8(text) == text.npos) return text;
  return absl::InvalidArgumentError("the form is not UTF-8");
}

absl::StatusOr<Json> ParseForm(absl::string_view body) {
  Json form = Json::object();
  for (const absl::string_view field :
       absl::StrSplit(body, '&', absl::SkipEmpty())) {
    const std::pair<absl::string_view, absl::string_view> parts =
        absl::StrSplit(field, absl::MaxSplits('=', 1));
    ASSIGN_OR_RETURN(const std::string name, Decode(parts.first));
    ASSIGN_OR_RETURN(std::string value, Decode(parts.second));
    if (form.contains(name)) {
      return FieldError(absl::CHexEscape(name.substr(0, 100)),
                        "is there twice");
    }
    if (form.size() == kMostFields) {
      return absl::InvalidArgumentError(
          absl::StrCat("the form has more than ", kMostFields, " fields"));
    }
    form[name] = std::move(value);
  }
  return form;
}

}  // namespace

absl::StatusOr<Json> ParseFormOrJson(absl::string_view body,
                                     absl::string_view content_type) {
  const absl::string_view type = absl::StripAsciiWhitespace(
      content_type.substr(0, content_type.find(';')));
  if (absl::EqualsIgnoreCase(type, "application/x-www-form-urlencoded")) {
    return ParseForm(body);
  }
  if (absl::EqualsIgnoreCase(type, "application/json")) {
    return ParseBody(body, content_type);
  }
  return FieldError("Content-Type",
                    "must be application/json or "
                    "application/x-www-form-urlencoded");
}

}  // namespace attend
