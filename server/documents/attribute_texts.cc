#include "server/documents/attribute_texts.h"

#include <algorithm>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"

namespace attend {
namespace {

struct TranslatedAttribute {
  absl::string_view name;
  absl::string_view element = "";  // empty: all
};

constexpr TranslatedAttribute kTranslated[] = {{"title"},
                                               {"aria-braillelabel"},
                                               {"aria-description"},
                                               {"aria-label"},
                                               {"aria-placeholder"},
                                               {"aria-roledescription"},
                                               {"aria-valuetext"},
                                               {"abbr", "th"},
                                               {"alt", "area"},
                                               {"alt", "img"},
                                               {"alt", "input"},
                                               {"label", "optgroup"},
                                               {"label", "option"},
                                               {"label", "track"},
                                               {"placeholder", "input"},
                                               {"placeholder", "textarea"}};

// Of <meta>: the standard's names and those of previews, whose content is text.
constexpr absl::string_view kMetaNames[] = {
    "description",         "keywords",         "og:title",
    "og:description",      "og:image:alt",     "twitter:title",
    "twitter:description", "twitter:image:alt"};

}  // namespace

bool AttributeTexts::IsNew(const std::string& name) {
  if (absl::c_linear_search(seen_, name)) return false;
  seen_.push_back(name);
  return true;
}

void AttributeTexts::Read(absl::string_view name, absl::string_view value,
                          AttributeText text) {
  const std::string lower = absl::AsciiStrToLower(name);
  if (absl::c_any_of(kTranslated, [&](const TranslatedAttribute& one) {
        return one.name == lower &&
               (one.element.empty() || one.element == element_);
      })) {
    if (IsNew(lower)) texts_.push_back(text);
  } else if (element_ == "meta") {
    if ((lower == "name" || lower == "property") && IsNew(lower)) {
      is_read_ |=
          absl::c_linear_search(kMetaNames, absl::AsciiStrToLower(value));
    } else if (lower == "content" && IsNew(lower)) {
      value_ = text;
    }
  } else if (element_ == "input") {
    is_named_ |= lower == "name";
    if (lower == "type" && IsNew(lower)) type_ = absl::AsciiStrToLower(value);
    if (lower == "value" && IsNew(lower)) value_ = text;
  }
}

std::vector<AttributeText> AttributeTexts::Take() {
  const bool is_label = type_ == "button" || type_ == "reset" ||
                        (type_ == "submit" && !is_named_);
  if (value_ && (element_ == "meta" ? is_read_ : is_label)) {
    texts_.push_back(*value_);
  }
  return std::move(texts_);
}

}  // namespace attend
