#include "server/documents/html_elements.h"

#include <algorithm>
#include <iterator>

namespace attend::html {
namespace {

struct HtmlElement {
  absl::string_view name;
  uint32_t categories;
};

// In order of their names.
constexpr HtmlElement kHtmlElements[] = {
    {"a", kControl | kFormatting},
    {"address", kBlock | kEndsParagraph | kSpecial},
    {"annotation-xml", kIntegration},
    {"applet", kScope | kMarker | kSpecial | kListContext | kParagraphContext |
                   kItemBarrier},
    {"area", kVoid | kSpecial | kItemBarrier},
    {"article", kBlock | kEndsParagraph | kSpecial | kItemBarrier},
    {"aside", kBlock | kEndsParagraph | kSpecial | kItemBarrier},
    {"b", kEndsForeign | kFormatting},
    {"base", kVoid | kBlock | kSpecial | kItemBarrier},
    {"basefont", kVoid | kSpecial | kItemBarrier},
    {"bgsound", kVoid | kSpecial | kItemBarrier},
    {"big", kEndsForeign | kFormatting},
    {"blockquote",
     kEndsForeign | kBlock | kEndsParagraph | kSpecial | kItemBarrier},
    {"body", kEndsForeign | kBlock | kSpecial | kItemBarrier},
    {"br", kVoid | kEndsForeign | kBlock | kSpecial | kItemBarrier},
    {"button", kControl | kSpecial | kParagraphContext | kItemBarrier},
    {"caption", kBlock | kScope | kMarker | kSpecial | kTable | kListContext |
                    kParagraphContext | kItemBarrier},
    {"center",
     kEndsForeign | kBlock | kEndsParagraph | kSpecial | kItemBarrier},
    {"code", kEndsForeign | kUntranslated | kFormatting},
    {"col", kVoid | kBlock | kSpecial | kItemBarrier},
    {"colgroup", kBlock | kSpecial | kTable | kItemBarrier},
    {"datalist", kBlock},
    {"dd", kEndsForeign | kBlock | kEndsParagraph | kSpecial | kItemBarrier},
    {"desc", kIntegration},
    {"details", kBlock | kEndsParagraph | kSpecial | kItemBarrier},
    {"dialog", kBlock | kEndsParagraph},
    {"dir", kBlock | kEndsParagraph | kSpecial | kListContext | kItemBarrier},
    {"div", kEndsForeign | kBlock | kEndsParagraph | kSpecial},
    {"dl", kEndsForeign | kBlock | kEndsParagraph | kSpecial | kItemBarrier},
    {"dt", kEndsForeign | kBlock | kEndsParagraph | kSpecial | kItemBarrier},
    {"em", kEndsForeign | kFormatting},
    {"embed", kVoid | kEndsForeign | kReplaced | kSpecial | kItemBarrier},
    {"fieldset", kBlock | kEndsParagraph | kSpecial | kItemBarrier},
    {"figcaption", kBlock | kEndsParagraph | kSpecial | kItemBarrier},
    {"figure", kBlock | kEndsParagraph | kSpecial | kItemBarrier},
    {"font", kFormatting},
    {"footer", kBlock | kEndsParagraph | kSpecial | kItemBarrier},
    {"foreignobject", kIntegration},
    {"form", kBlock | kEndsParagraph | kSpecial | kItemBarrier},
    {"frame", kVoid | kBlock | kSpecial | kItemBarrier},
    {"frameset", kBlock | kSpecial | kItemBarrier},
    {"h1", kEndsForeign | kBlock | kEndsParagraph | kSpecial | kHeading |
               kItemBarrier},
    {"h2", kEndsForeign | kBlock | kEndsParagraph | kSpecial | kHeading |
               kItemBarrier},
    {"h3", kEndsForeign | kBlock | kEndsParagraph | kSpecial | kHeading |
               kItemBarrier},
    {"h4", kEndsForeign | kBlock | kEndsParagraph | kSpecial | kHeading |
               kItemBarrier},
    {"h5", kEndsForeign | kBlock | kEndsParagraph | kSpecial | kHeading |
               kItemBarrier},
    {"h6", kEndsForeign | kBlock | kEndsParagraph | kSpecial | kHeading |
               kItemBarrier},
    {"head", kEndsForeign | kBlock | kSpecial | kItemBarrier},
    {"header", kBlock | kEndsParagraph | kSpecial | kItemBarrier},
    {"hgroup", kBlock | kEndsParagraph | kSpecial | kItemBarrier},
    {"hr",
     kVoid | kEndsForeign | kBlock | kEndsParagraph | kSpecial | kItemBarrier},
    {"html", kBlock | kScope | kSpecial | kTableContext | kRowContext |
                 kCellContext | kListContext | kParagraphContext |
                 kItemBarrier},
    {"i", kEndsForeign | kFormatting},
    {"iframe", kRawText | kNeverTranslated | kBlock | kSpecial | kItemBarrier},
    {"img", kVoid | kEndsForeign | kReplaced | kSpecial | kItemBarrier},
    {"input", kVoid | kReplaced | kSpecial | kItemBarrier},
    {"kbd", kUntranslated},
    {"keygen", kVoid | kReplaced | kSpecial | kItemBarrier},
    {"label", kControl},
    {"legend", kBlock},
    {"li", kEndsForeign | kBlock | kEndsParagraph | kSpecial | kItemBarrier},
    {"link", kVoid | kBlock | kSpecial | kItemBarrier},
    {"listing", kEndsForeign | kUntranslated | kBlock | kEndsParagraph |
                    kSpecial | kItemBarrier},
    {"main", kBlock | kEndsParagraph | kSpecial | kItemBarrier},
    {"marquee", kScope | kMarker | kSpecial | kListContext | kParagraphContext |
                    kItemBarrier},
    {"math", kForeign | kNeverTranslated},
    {"menu", kEndsForeign | kBlock | kEndsParagraph | kSpecial | kListContext |
                 kItemBarrier},
    {"meta", kVoid | kEndsForeign | kBlock | kSpecial | kItemBarrier},
    {"meter", kControl},
    {"mi", kIntegration},
    {"mn", kIntegration},
    {"mo", kIntegration},
    {"ms", kIntegration},
    {"mtext", kIntegration},
    {"nav", kBlock | kEndsParagraph | kSpecial | kItemBarrier},
    {"nobr", kEndsForeign | kFormatting},
    {"noembed", kRawText | kNeverTranslated | kBlock | kSpecial | kItemBarrier},
    {"noframes",
     kRawText | kNeverTranslated | kBlock | kSpecial | kItemBarrier},
    {"noscript", kBlock | kSpecial | kItemBarrier},
    {"object", kNeverTranslated | kScope | kMarker | kSpecial | kListContext |
                   kParagraphContext | kItemBarrier},
    {"ol", kEndsForeign | kBlock | kEndsParagraph | kSpecial | kListContext |
               kItemBarrier},
    {"optgroup", kBlock | kOptions},
    {"option", kBlock | kOptions},
    {"output", kControl},
    {"p", kEndsForeign | kBlock | kEndsParagraph | kSpecial},
    {"param", kVoid | kSpecial | kItemBarrier},
    {"plaintext", kRawText | kBlock | kEndsParagraph | kSpecial | kItemBarrier},
    {"pre", kEndsForeign | kUntranslated | kBlock | kEndsParagraph | kSpecial |
                kItemBarrier},
    {"progress", kControl},
    {"rb", kRuby | kRubyText},
    {"rp", kAnnotation | kRuby | kRubyText},
    {"rt", kAnnotation | kRuby | kRubyText},
    {"rtc", kAnnotation | kRuby},
    {"ruby", kEndsForeign},
    {"s", kEndsForeign | kFormatting},
    {"samp", kUntranslated},
    {"script", kRawText | kNeverTranslated | kBlock | kSpecial | kItemBarrier},
    {"search", kBlock | kEndsParagraph | kSpecial | kItemBarrier},
    {"section", kBlock | kEndsParagraph | kSpecial | kItemBarrier},
    {"select", kBlock | kSpecial | kItemBarrier},
    {"small", kEndsForeign | kFormatting},
    {"source", kVoid | kSpecial | kItemBarrier},
    {"span", kEndsForeign},
    {"strike", kEndsForeign | kFormatting},
    {"strong", kEndsForeign | kFormatting},
    {"style", kRawText | kNeverTranslated | kBlock | kSpecial | kItemBarrier},
    {"sub", kEndsForeign},
    {"summary", kBlock | kEndsParagraph | kSpecial | kItemBarrier},
    {"sup", kEndsForeign},
    {"svg", kForeign | kNeverTranslated},
    {"table", kEndsForeign | kBlock | kEndsParagraph | kScope | kSpecial |
                  kTable | kTableContext | kRowContext | kCellContext |
                  kListContext | kParagraphContext | kItemBarrier},
    {"tbody",
     kBlock | kSpecial | kTable | kRowContext | kCellContext | kItemBarrier},
    {"td", kBlock | kScope | kMarker | kSpecial | kTable | kCell |
               kListContext | kParagraphContext | kItemBarrier},
    {"template", kNeverTranslated | kBlock | kScope | kMarker | kSpecial |
                     kTableContext | kRowContext | kCellContext | kListContext |
                     kParagraphContext | kItemBarrier},
    {"textarea",
     kReferenceText | kNeverTranslated | kBlock | kSpecial | kItemBarrier},
    {"tfoot",
     kBlock | kSpecial | kTable | kRowContext | kCellContext | kItemBarrier},
    {"th", kBlock | kScope | kMarker | kSpecial | kTable | kCell |
               kListContext | kParagraphContext | kItemBarrier},
    {"thead",
     kBlock | kSpecial | kTable | kRowContext | kCellContext | kItemBarrier},
    {"title", kIntegration | kReferenceText | kBlock | kSpecial | kItemBarrier},
    {"tr", kBlock | kSpecial | kTable | kCellContext | kItemBarrier},
    {"track", kVoid | kSpecial | kItemBarrier},
    {"tt", kEndsForeign | kUntranslated | kFormatting},
    {"u", kEndsForeign | kFormatting},
    {"ul", kEndsForeign | kBlock | kEndsParagraph | kSpecial | kListContext |
               kItemBarrier},
    {"var", kEndsForeign | kUntranslated},
    {"wbr", kVoid | kSpecial | kItemBarrier},
    {"xmp", kRawText | kNeverTranslated | kBlock | kEndsParagraph | kSpecial |
                kItemBarrier},
};

static_assert(std::is_sorted(std::begin(kHtmlElements), std::end(kHtmlElements),
                             [](const HtmlElement& a, const HtmlElement& b) {
                               return a.name < b.name;
                             }));

}  // namespace

uint32_t CategoriesOf(absl::string_view name) {
  const auto found =
      std::lower_bound(std::begin(kHtmlElements), std::end(kHtmlElements), name,
                       [](const HtmlElement& e, absl::string_view wanted) {
                         return e.name < wanted;
                       });
  return found != std::end(kHtmlElements) && found->name == name
             ? found->categories
             : 0;
}

}  // namespace attend::html
