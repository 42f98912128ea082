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

absl::Status IsThereTwice(absl::string_view name) {
  return FieldError(absl::CHexEscape(name.substr(0, 100)),
                    "is there twice, with different values");
}

absl::StatusOr<std::string> Decode(absl::string_view part) {
  ASSIGN_OR_RETURN(std::string text, DecodeUrl(part, UrlPart::kForm));
  if (FindInvalidUtf8(text) == text.npos) return text;
  return absl::InvalidArgumentError("the form is not UTF-8");
}

// Adds the fields of a form.
absl::Status ParseForm(absl::string_view body, Json& form) {
  for (const absl::string_view field :
       absl::StrSplit(body, '&', absl::SkipEmpty())) {
    const std::pair<absl::string_view, absl::string_view> parts =
        absl::StrSplit(field, absl::MaxSplits('=', 1));
    ASSIGN_OR_RETURN(const std::string name, Decode(parts.first));
    ASSIGN_OR_RETURN(std::string value, Decode(parts.second));
    if (const auto found = form.find(name); found != form.end()) {
      if (*found == value) continue;
      return IsThereTwice(name);
    }
    if (form.size() == kMostFields) {
      return absl::InvalidArgumentError(
          absl::StrCat("the form has more than ", kMostFields, " fields"));
    }
    form[name] = std::move(value);
  }
  return absl::OkStatus();
}

// Adds the members of a JSON object.
absl::Status AddMembers(const Json& object, Json& to) {
  for (const auto& [name, value] : object.items()) {
    if (to.contains(name) && to[name] != value) return IsThereTwice(name);
    to[name] = value;
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Json> ParseParameters(absl::string_view query,
                                     absl::string_view body,
                                     absl::string_view content_type) {
  Json parameters = Json::object();
  RETURN_IF_ERROR(ParseForm(query, parameters));
  if (body.empty() && !query.empty()) return parameters;
  const absl::string_view type = absl::StripAsciiWhitespace(
      content_type.substr(0, content_type.find(';')));
  if (absl::EqualsIgnoreCase(type, "application/x-www-form-urlencoded")) {
    RETURN_IF_ERROR(ParseForm(body, parameters));
    return parameters;
  }
  if (absl::EqualsIgnoreCase(type, "application/json")) {
    ASSIGN_OR_RETURN(const Json object, ParseBody(body, content_type));
    RETURN_IF_ERROR(AddMembers(object, parameters));
    return parameters;
  }
  return FieldError("Content-Type",
                    "must be application/json or "
                    "application/x-www-form-urlencoded");
}

}  // namespace attend
