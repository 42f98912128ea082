#ifndef ATTEND_SERVER_DOCUMENTS_MARKUP_LEXER_H_
#define ATTEND_SERVER_DOCUMENTS_MARKUP_LEXER_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "server/documents/attribute_texts.h"

namespace attend {

enum class MarkupKind { kHtml, kXml };

// One part of a marked-up text: bytes [begin, end).
struct MarkupToken {
  enum Kind {
    kText,   // with character references
    kOpen,   // a start tag
    kClose,  // an end tag
    kEmpty,  // the tag of an element that has no content: <br>, <x/>
    kOther,  // a comment, a declaration, CDATA, the content of a script
  };
  Kind kind = kText;
  int begin = 0;
  int end = 0;
  std::string name = {};    // of a tag; of HTML in lower case
  uint32_t categories = 0;  // of a tag of HTML: see html::Category
  // What the tag says of its element: translate="no", its:translate="no" or a
  // class "notranslate"; translate="yes", its:translate="yes".
  enum Translate { kInherit, kNo, kYes };
  Translate translate = kInherit;
  // Texts of the attributes of an HTML start tag; see AttributeTexts.
  std::vector<AttributeText> texts = {};
};

// Cuts a text into tags and what is between them, as the HTML standard's
// tokenizer and XML 1.0 do. Every text can be cut; the tokens together are the
// text. Nothing is looked up or executed. Takes time in proportion to the text.
class MarkupLexer {
 public:
  // `text` must outlive the lexer, and have fewer than 2^31 bytes.
  MarkupLexer(absl::string_view text, MarkupKind kind, int begin = 0)
      : text_(text), kind_(kind), at_(static_cast<size_t>(begin)) {}

  // The next token; false at the end.
  bool Next(MarkupToken& token);
  // The next token is inside of SVG or MathML in HTML: elements may be empty as
  // in XML, there are CDATA sections, and scripts are marked up.
  void set_foreign(bool foreign) { foreign_ = foreign; }

 private:
  // All set token.kind, and return the end of the token that begins at `at_`.
  size_t Lex(MarkupToken& token);
  size_t LexMarkup(MarkupToken& token);
  size_t LexComment() const;
  size_t LexProcessingInstruction() const;
  size_t LexDeclaration() const;
  bool BeginsName(size_t at) const;
  size_t LexTag(MarkupToken& token);
  AttributeText TextOf(absl::string_view value) const;
  // The end of the content that the last tag has if that is not marked up.
  size_t RawEnd() const;
  size_t ScriptEnd() const;
  // Whether text_ has `name` at `at`, as the whole name of a tag.
  bool HasTagName(size_t at, absl::string_view name) const;
  // Goes on behind `what`; the end of the text if `what` does not come.
  size_t Behind(absl::string_view what, size_t from) const;
  bool BeginsWith(absl::string_view what) const;

  const absl::string_view text_;
  const MarkupKind kind_;
  size_t at_;
  std::string raw_;  // the element whose content is not marked up, or empty
  bool raw_is_text_ = false;  // of raw_: its content is text
  bool foreign_ = false;
};

}  // namespace attend

#endif  // ATTEND_SERVER_DOCUMENTS_MARKUP_LEXER_H_
