#ifndef ATTEND_SERVER_DOCUMENTS_OPEN_ELEMENTS_H_
#define ATTEND_SERVER_DOCUMENTS_OPEN_ELEMENTS_H_

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "server/documents/markup_lexer.h"

namespace attend {

// The elements that are open at a place of a document, as the tree construction
// of the HTML standard (section 13.2.6) and XML 1.0 say: which tags imply the
// end of others, and which end tags count. Formatting elements that a block
// interrupts (the standard's active formatting elements) stay open.
class OpenElements {
 public:
  // Writes the last token of each element into `last`, by its first token.
  // `last` must outlive the object.
  OpenElements(MarkupKind kind, std::vector<int>& last)
      : kind_(kind), last_(last) {}

  // Token `index` of the document. Tokens come in order.
  void Add(const MarkupToken& token, int index);
  // The document ends before token `end`.
  void CloseAll(int end);

  // The text at this place is to be translated.
  bool translated() const { return open_.empty() || open_.back().translated; }
  // The innermost block around this place is not to be translated: what is
  // translated here is a text of its own.
  bool in_kept_block() const {
    return !open_.empty() && open_.back().kept_block;
  }
  // The place is inside of SVG or MathML, and not in HTML inside of these.
  bool in_foreign() const { return !open_.empty() && open_.back().foreign; }
  // The last token is a start tag that closed an element of the same name.
  bool follows() const { return follows_; }
  // The last token is a start tag, and the texts of its attributes are to be
  // translated: even those of an element whose content is not, like <iframe>.
  bool translates_attributes() const { return translates_attributes_; }

 private:
  struct Element {
    std::string name;
    uint32_t categories = 0;
    int token = 0;
    MarkupToken::Translate says = MarkupToken::kInherit;
    bool never = false;       // says kNo to all that is inside
    bool formatting = false;  // see html::kFormatting
    bool translated = true;   // its text, by its attributes and its parents'
    bool kept_block = false;  // see in_kept_block()
    bool foreign = false;     // its content is SVG or MathML
  };

  void Open(const MarkupToken& token, int index);
  void ImplyEnds(const MarkupToken& token, int index);
  void ImplyItemEnds(absl::string_view name, int index);
  void ImplyTableEnds(absl::string_view name, int index);
  void CloseHtml(const MarkupToken& token, int index);
  bool CloseForeign(absl::string_view name, int index);
  void CloseFormatting(absl::string_view name, int index);

  // Looks at the innermost elements for one of a name, or of some categories,
  // up to one of the categories `barrier`, and not beyond. -1: there is none.
  int Find(absl::string_view name, uint32_t barrier) const;
  int Find(uint32_t categories, uint32_t barrier) const;
  // The outermost one of innermost elements that are all of `categories`.
  int FindChain(uint32_t categories) const;
  // Closes the elements from `first` on, apart from formatting elements. `last`
  // is the last token of the element `first`, and the one before it of others.
  void CloseFrom(int first, int last, bool by_end_tag);
  // The formatting elements that were interrupted go on inside of what was
  // opened since then, once something else comes that is no block.
  void Resume(const MarkupToken& token);
  bool TranslatesAttributes(const MarkupToken& token) const;
  void Record(const Element& element, int last);
  // Sets the flags that elements from `first` on have of their parents.
  void Inherit(int first);

  const MarkupKind kind_;
  std::vector<int>& last_;
  std::vector<Element> open_;  // the innermost one last
  // The number of elements of open_ by name: most tags that would end one have
  // none to end.
  std::map<std::string, int, std::less<>> count_;
  // Formatting elements at the end of open_ that a block has interrupted.
  int interrupted_ = 0;
  bool follows_ = false;
  bool translates_attributes_ = false;
};

}  // namespace attend

#endif  // ATTEND_SERVER_DOCUMENTS_OPEN_ELEMENTS_H_
