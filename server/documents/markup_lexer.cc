#include "server/documents/markup_lexer.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "server/documents/html_elements.h"

namespace attend {
namespace {

constexpr absl::string_view kSpaces = " \t\r\n\f";

bool BeginsName(char c) {
  return absl::ascii_isalpha(c) || c == '_' || c == ':' ||
         static_cast<unsigned char>(c) >= 0x80;
}

// Reads the attributes of a tag, up to its '>'.
class Attributes {
 public:
  Attributes(absl::string_view text, size_t at) : text_(text), at_(at) {}

  // The next attribute; false: the tag ends at end(), or the text ends.
  bool Next(absl::string_view& name, absl::string_view& value) {
    Skip(" \t\r\n\f/");
    if (at_ >= text_.size() || text_[at_] == '>') return false;
    name = Take(" \t\r\n\f/>=", 1);
    value = {};
    Skip(kSpaces);
    if (at_ >= text_.size() || text_[at_] != '=') return true;
    ++at_;
    Skip(kSpaces);
    if (at_ >= text_.size()) return true;
    const char quote = text_[at_];
    if (quote == '"' || quote == '\'') {
      ++at_;
      value = Take(absl::string_view(&quote, 1), 0);
      at_ = std::min(at_ + 1, text_.size());
    } else {
      value = Take(" \t\r\n\f>", 0);
    }
    return true;
  }
  size_t at() const { return at_; }

 private:
  void Skip(absl::string_view what) {
    at_ = std::min(text_.find_first_not_of(what, at_), text_.size());
  }
  // Up to one of `ends`, but at least `least` bytes.
  absl::string_view Take(absl::string_view ends, size_t least) {
    const size_t begin = at_;
    at_ = std::min(text_.find_first_of(ends, at_ + least), text_.size());
    return text_.substr(begin, at_ - begin);
  }

  const absl::string_view text_;
  size_t at_;
};

bool Untranslated(absl::string_view name, absl::string_view value) {
  if (absl::EqualsIgnoreCase(name, "translate") || name == "its:translate") {
    return absl::EqualsIgnoreCase(value, "no");
  }
  if (!absl::EqualsIgnoreCase(name, "class")) return false;
  for (absl::string_view word :
       absl::StrSplit(value, absl::ByAnyChar(kSpaces))) {
    if (word == "notranslate") return true;
  }
  return false;
}

}  // namespace

bool MarkupLexer::Next(MarkupToken& token) {
  if (at_ >= text_.size()) return false;
  token = {.begin = static_cast<int>(at_)};
  at_ = Lex(token);
  token.end = static_cast<int>(at_);
  return true;
}

size_t MarkupLexer::Lex(MarkupToken& token) {
  if (!raw_.empty()) {
    const size_t end = RawEnd();
    raw_.clear();
    if (end > at_) {
      token.kind = MarkupToken::kOther;
      return end;
    }
  }
  if (text_[at_] == '<') {
    if (const size_t end = LexMarkup(token); end > at_) return end;
  }
  token.kind = MarkupToken::kText;
  return std::min(text_.find('<', at_ + 1), text_.size());
}

size_t MarkupLexer::LexMarkup(MarkupToken& token) {
  token.kind = MarkupToken::kOther;
  if (BeginsWith("<!--")) return Behind("-->", at_ + 4);
  if (BeginsWith("<?")) {
    return Behind(kind_ == MarkupKind::kXml ? "?>" : ">", at_ + 2);
  }
  if (BeginsWith("<![CDATA[") && kind_ == MarkupKind::kXml) {
    return Behind("]]>", at_);
  }
  if (BeginsWith("<!")) return LexDeclaration();
  const bool close = BeginsWith("</");
  const size_t name = at_ + (close ? 2 : 1);
  if (name < text_.size() && BeginsName(text_[name])) return LexTag(token);
  return close ? Behind(">", name) : at_;
}

// A declaration of XML may have others inside of [], with '>' in them.
size_t MarkupLexer::LexDeclaration() const {
  if (kind_ == MarkupKind::kHtml) return Behind(">", at_);
  int depth = 0;
  for (size_t at = at_ + 2; at < text_.size(); ++at) {
    const char c = text_[at];
    if (c == '"' || c == '\'') {
      at = text_.find(c, at + 1);
      if (at == text_.npos) break;
    } else if (text_.substr(at, 4) == "<!--") {
      at = Behind("-->", at + 4) - 1;
    } else if (text_.substr(at, 2) == "<?") {
      at = Behind("?>", at + 2) - 1;
    } else if (c == '[') {
      ++depth;
    } else if (c == ']') {
      --depth;
    } else if (c == '>' && depth <= 0) {
      return at + 1;
    }
    // Declarations inside of [] end with '>', too, which `depth` passes over.
  }
  return text_.size();
}

size_t MarkupLexer::LexTag(MarkupToken& token) {
  const bool close = text_[at_ + 1] == '/';
  const size_t begin = at_ + (close ? 2 : 1);
  const size_t end =
      std::min(text_.find_first_of(" \t\r\n\f/>", begin), text_.size());
  token.name = std::string(text_.substr(begin, end - begin));
  if (kind_ == MarkupKind::kHtml) absl::AsciiStrToLower(&token.name);
  Attributes attributes(text_, end);
  absl::string_view name, value;
  while (attributes.Next(name, value)) {
    token.untranslated |= Untranslated(name, value);
  }
  const size_t last = attributes.at();
  if (last >= text_.size()) return text_.size();  // no '>': kOther
  const bool ended = text_[last - 1] == '/';
  const bool empty =
      kind_ == MarkupKind::kHtml
          ? IsVoidElement(token.name) || (ended && IsForeignElement(token.name))
          : ended;
  token.kind = close   ? MarkupToken::kClose
               : empty ? MarkupToken::kEmpty
                       : MarkupToken::kOpen;
  if (token.kind == MarkupToken::kOpen && kind_ == MarkupKind::kHtml &&
      IsRawTextElement(token.name)) {
    raw_ = token.name;
  }
  return last + 1;
}

size_t MarkupLexer::RawEnd() {
  for (size_t at = text_.find("</", at_); at != text_.npos;
       at = text_.find("</", at + 2)) {
    if (absl::StartsWithIgnoreCase(text_.substr(at + 2), raw_)) return at;
  }
  return text_.size();
}

size_t MarkupLexer::Behind(absl::string_view what, size_t from) const {
  const size_t found = text_.find(what, std::min(from, text_.size()));
  return found == text_.npos ? text_.size() : found + what.size();
}

bool MarkupLexer::BeginsWith(absl::string_view what) const {
  return absl::StartsWith(text_.substr(at_), what);
}

}  // namespace attend
