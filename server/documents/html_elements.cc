#include "server/documents/html_elements.h"

#include <algorithm>
#include <iterator>

namespace attend {
namespace {

// Lists of names, in order.
constexpr absl::string_view kVoid[] = {
    "area",  "base",  "basefont", "bgsound", "br",    "col",
    "embed", "frame", "hr",       "img",     "input", "keygen",
    "link",  "meta",  "param",    "source",  "track", "wbr"};

constexpr absl::string_view kRawText[] = {
    "iframe", "noembed", "noframes", "script", "style", "textarea", "xmp"};

constexpr absl::string_view kUntranslated[] = {
    "code",     "iframe",   "kbd",      "listing", "math",   "noembed",
    "noframes", "object",   "pre",      "samp",    "script", "style",
    "svg",      "template", "textarea", "tt",      "var",    "xmp"};

constexpr absl::string_view kBlock[] = {
    "address",  "article",    "aside",    "base",     "blockquote", "body",
    "br",       "caption",    "center",   "col",      "colgroup",   "dd",
    "details",  "dialog",     "dir",      "div",      "dl",         "dt",
    "fieldset", "figcaption", "figure",   "footer",   "form",       "frame",
    "frameset", "h1",         "h2",       "h3",       "h4",         "h5",
    "h6",       "head",       "header",   "hgroup",   "hr",         "html",
    "iframe",   "legend",     "li",       "link",     "listing",    "main",
    "menu",     "meta",       "nav",      "noembed",  "noframes",   "noscript",
    "ol",       "optgroup",   "option",   "p",        "pre",        "script",
    "search",   "section",    "select",   "style",    "summary",    "table",
    "tbody",    "td",         "template", "textarea", "tfoot",      "th",
    "thead",    "title",      "tr",       "ul",       "xmp"};

template <class List>
constexpr bool Has(const List& list, absl::string_view name) {
  return std::binary_search(std::begin(list), std::end(list), name);
}

template <class List>
constexpr bool InOrder(const List& list) {
  return std::is_sorted(std::begin(list), std::end(list));
}
static_assert(InOrder(kVoid) && InOrder(kRawText) && InOrder(kUntranslated) &&
              InOrder(kBlock));

}  // namespace

bool IsVoidElement(absl::string_view name) { return Has(kVoid, name); }
bool IsForeignElement(absl::string_view name) {
  return name == "math" || name == "svg";
}
bool IsRawTextElement(absl::string_view name) { return Has(kRawText, name); }
bool IsUntranslatedElement(absl::string_view name) {
  return Has(kUntranslated, name);
}
bool IsBlockElement(absl::string_view name) { return Has(kBlock, name); }

}  // namespace attend
