#ifndef ATTEND_SERVER_DOCUMENTS_HTML_ELEMENTS_H_
#define ATTEND_SERVER_DOCUMENTS_HTML_ELEMENTS_H_

#include <cstdint>

#include "absl/strings/string_view.h"

namespace attend::html {

// Categories of HTML's elements (the HTML standard, sections 3.2.5, 4, 13.1,
// 13.2.4 and 13.2.6). Elements that the standard does not know have none: they
// are part of the text around them.
enum Category : uint32_t {
  kVoid = 1u << 0,           // has no content and no end tag
  kForeign = 1u << 1,        // the root of another vocabulary
  kIntegration = 1u << 2,    // of SVG or MathML, and its content is HTML again
  kEndsForeign = 1u << 3,    // its start tag ends SVG or MathML
  kRawText = 1u << 4,        // its content has neither tags nor references
  kReferenceText = 1u << 5,  // its content has references, but no tags
  kUntranslated = 1u << 6,   // translated only if an attribute says so
  kNeverTranslated = 1u << 7,  // not translated, whatever attributes say
  kBlock = 1u << 8,            // a sentence ends where it begins or ends
  kControl = 1u << 9,          // a thing of its own in a line: a link, a button
  kReplaced = 1u << 10,        // shown as a thing between words
  kAnnotation = 1u << 11,      // says how other text is read
  kFormatting = 1u << 12,      // goes on in the next block if it was not closed
  kEndsParagraph = 1u << 13,   // its start tag ends a paragraph
  kScope = 1u << 14,           // end tags inside of it close nothing around it
  kMarker = 1u << 15,          // formatting elements inside of it end with it
  kSpecial = 1u << 16,         // end tags of ordinary elements do not close it
  kHeading = 1u << 17,
  kRuby = 1u << 18,          // a part of ruby
  kTable = 1u << 19,         // a table, or a part of one
  kTableContext = 1u << 20,  // a section of a table is directly inside of it
  kRowContext = 1u << 21,    // a row is
  kCellContext = 1u << 22,   // a cell is
  kCell = 1u << 23,
  kListContext = 1u << 24,  // items inside of it are not of a list around it
  kParagraphContext = 1u << 25,  // the same, of paragraphs
  kItemBarrier = 1u << 26,  // special, and the end of an item is not beyond it
  kRubyText = 1u << 27,
  kOptions = 1u << 28,  // an option, or a group of them
};

// The categories of an element, by its name in lower case.
uint32_t CategoriesOf(absl::string_view name);

}  // namespace attend::html

#endif  // ATTEND_SERVER_DOCUMENTS_HTML_ELEMENTS_H_
