#ifndef ATTEND_SERVER_DOCUMENTS_RUN_H_
#define ATTEND_SERVER_DOCUMENTS_RUN_H_

#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/strings/string_view.h"
#include "server/documents/attribute_texts.h"
#include "server/documents/character_references.h"
#include "server/documents/markup_lexer.h"
#include "server/documents/text_breaks.h"

namespace attend {

// The character that stands for an object in a run's text: U+FFFC.
inline constexpr absl::string_view kObjectCharacter = "\xef\xbf\xbc";

// Characters of a text that a document has to write in another way.
enum class Escaping {
  kNone,       // text
  kMarkup,     // HTML and XML: with references for '&', '<' and '>'
  kMarkdown,   // with a backslash before what would be markup
  kTableCell,  // the same, in a cell of a table
  // With references, in the value of an attribute: between quotation marks,
  // between apostrophes, or between neither.
  kQuoted,
  kSingleQuoted,
  kUnquoted
};

// Returns true for texts of HTML and XML, in which line breaks are spaces.
inline bool IsMarkup(Escaping escaping) {
  return escaping == Escaping::kMarkup || escaping >= Escaping::kQuoted;
}

inline bool IsMarkdown(Escaping escaping) {
  return escaping == Escaping::kMarkdown || escaping == Escaping::kTableCell;
}

// What a document has between two borders that no sentence crosses: a text
// without markup, the tags in it, and where all of it is in the document.
class Run {
 public:
  explicit Run(Escaping escaping = Escaping::kNone) : escaping_(escaping) {}
  // The value of an attribute of HTML.
  static Run OfAttribute(absl::string_view document, AttributeText text);

  struct Tag {
    enum Kind {
      kOpen,   // with the end tag at `partner`, or with one in a later run
      kClose,  // with the start tag at `partner`, or with one in an earlier run
      kEmpty,  // it has no partner, and no place but its own
    };
    Kind kind = kEmpty;
    int position = 0;  // in the text
    TextRange source;  // in the document
    int partner = -1;  // index of the tag; -1: it is not in this run
    std::string name = {};
    // What a translation has in the place of the tag; empty: the tag as it is.
    std::string written = {};
  };
  // Something that is not translated, and that the text goes around.
  struct Object {
    int position = 0;  // of kObjectCharacter in the text
    TextRange source;  // in the document
  };

  // Bytes `source` of the document are text as it is. Characters that are not
  // to be read (see HiddenSize()) are left out.
  void AddText(absl::string_view document, TextRange source);
  // The same, with character references of HTML that end with a semicolon:
  // programs escape the texts that they show ("AT&amp;T").
  void AddEscaped(absl::string_view document, TextRange source);
  // The same, with all character references.
  void AddMarkedUp(absl::string_view document, TextRange source,
                   MarkupKind kind);
  // Bytes `source` of the document stand for `text`.
  void AddReplaced(absl::string_view text, TextRange source);
  void AddObject(TextRange source);
  // A tag, a comment or the like.
  void AddTag(const MarkupToken& token);
  // A mark of Markdown that is a tag.
  void AddTag(Tag tag);
  // Finds the partners of tags, once all are there. A tag that would cross
  // others counts as kEmpty.
  void MatchTags();
  // Makes objects of bytes `ranges` of the text, once all of it is there. The
  // ranges are in order, apart from each other, and have no object. A range
  // with tags inside is as many objects as the tags divide it into.
  void MakeObjects(const std::vector<TextRange>& ranges);

  Escaping escaping() const { return escaping_; }
  const std::string& text() const { return text_; }
  const std::vector<Tag>& tags() const { return tags_; }
  const std::vector<Object>& objects() const { return objects_; }
  // Where the character that begins at `position` of the text begins in the
  // document, and where the character that ends there ends.
  int SourceBegin(int position) const;
  int SourceEnd(int position) const;

 private:
  // Bytes of the text that come from bytes of the document: the same ones, or
  // others that stand for them, as the character of a reference.
  struct Part {
    TextRange text;
    TextRange source;
    bool same = false;
  };
  void Add(absl::string_view text, TextRange source, bool same);
  // Adds text and what `add` makes of each reference; false: it is text.
  void AddReferences(
      absl::string_view document, TextRange source, MarkupKind kind,
      absl::FunctionRef<bool(const CharacterReference&, TextRange)> add);
  // Appends bytes `range` of another run's text.
  void AddRange(const Run& from, TextRange range);
  // The part with the byte at `position`.
  const Part& PartOf(int position) const;

  Escaping escaping_;
  std::string text_;
  std::vector<Part> parts_;  // in order
  std::vector<Tag> tags_;    // in order
  std::vector<Object> objects_;
};

}  // namespace attend

#endif  // ATTEND_SERVER_DOCUMENTS_RUN_H_
