#include "server/documents/markup_lexer.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "server/documents/html_elements.h"

namespace attend {
namespace {

constexpr absl::string_view kSpaces = " \t\r\n\f";

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

// What the attributes of a tag say about translation. Of an attribute that is
// there twice, the first counts.
class TranslateAttributes {
 public:
  void Read(absl::string_view name, absl::string_view value) {
    if (absl::EqualsIgnoreCase(name, "translate") || name == "its:translate") {
      if (!has_translate_) translate_ = Parse(value);
      has_translate_ = true;
    } else if (absl::EqualsIgnoreCase(name, "class")) {
      if (!has_class_) {
        for (const absl::string_view word :
             absl::StrSplit(value, absl::ByAnyChar(kSpaces))) {
          notranslate_ |= word == "notranslate";
        }
      }
      has_class_ = true;
    }
  }
  MarkupToken::Translate result() const {
    return notranslate_ ? MarkupToken::kNo : translate_;
  }

 private:
  static MarkupToken::Translate Parse(absl::string_view value) {
    if (absl::EqualsIgnoreCase(value, "no")) return MarkupToken::kNo;
    return value.empty() || absl::EqualsIgnoreCase(value, "yes")
               ? MarkupToken::kYes
               : MarkupToken::kInherit;
  }

  MarkupToken::Translate translate_ = MarkupToken::kInherit;
  bool has_translate_ = false;
  bool has_class_ = false;
  bool notranslate_ = false;
};

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
    const size_t end = raw_ == "script" ? ScriptEnd() : RawEnd();
    raw_.clear();
    if (end > at_) {
      token.kind = raw_is_text_ ? MarkupToken::kText : MarkupToken::kOther;
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
  if (BeginsWith("<!--")) return LexComment();
  if (BeginsWith("<?")) return LexProcessingInstruction();
  if (BeginsWith("<![CDATA[") && (kind_ == MarkupKind::kXml || foreign_)) {
    return Behind("]]>", at_);
  }
  if (BeginsWith("<!")) return LexDeclaration();
  const bool close = BeginsWith("</");
  const size_t name = at_ + (close ? 2 : 1);
  if (BeginsName(name)) return LexTag(token);
  // HTML: "</" at the end is text, and before anything else a comment.
  return close && name < text_.size() ? Behind(">", name) : at_;
}

// Tags of HTML begin with a letter of ASCII.
bool MarkupLexer::BeginsName(size_t at) const {
  if (at >= text_.size()) return false;
  const char c = text_[at];
  if (absl::ascii_isalpha(c)) return true;
  return kind_ == MarkupKind::kXml &&
         (c == '_' || c == ':' || static_cast<unsigned char>(c) >= 0x80);
}

// HTML has more ends of comments than XML (its section 13.2.5.43 and following
// ones).
size_t MarkupLexer::LexComment() const {
  if (kind_ == MarkupKind::kXml) return Behind("-->", at_ + 4);
  if (BeginsWith("<!-->")) return at_ + 5;
  if (BeginsWith("<!--->")) return at_ + 6;
  for (size_t at = text_.find("--", at_ + 4); at != text_.npos;
       at = text_.find("--", at + 1)) {
    const absl::string_view end = text_.substr(at + 2);
    if (absl::StartsWith(end, ">")) return at + 3;
    if (absl::StartsWith(end, "!>")) return at + 4;
  }
  return text_.size();
}

// HTML has none: it reads one as a comment up to the next '>'. But what PHP
// executes is no HTML yet.
size_t MarkupLexer::LexProcessingInstruction() const {
  const bool whole =
      kind_ == MarkupKind::kXml || BeginsWith("<?php") || BeginsWith("<?=");
  return Behind(whole ? "?>" : ">", at_ + 2);
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
  if (kind_ == MarkupKind::kHtml) {
    absl::AsciiStrToLower(&token.name);
    token.categories = html::CategoriesOf(token.name);
  }
  Attributes attributes(text_, end);
  absl::string_view name, value;
  TranslateAttributes translate;
  AttributeTexts texts(token.name);
  while (attributes.Next(name, value)) {
    translate.Read(name, value);
    if (!value.empty()) texts.Read(name, value, TextOf(value));
  }
  token.translate = translate.result();
  const size_t last = attributes.at();
  if (last >= text_.size()) return text_.size();  // no '>': kOther
  if (kind_ == MarkupKind::kHtml && !close && !foreign_) {
    token.texts = texts.Take();
  }
  const bool ended = text_[last - 1] == '/';
  const bool may_be_empty = kind_ == MarkupKind::kXml || foreign_ ||
                            (token.categories & html::kForeign) != 0;
  const bool empty =
      (ended && may_be_empty) || (token.categories & html::kVoid) != 0;
  token.kind = close   ? MarkupToken::kClose
               : empty ? MarkupToken::kEmpty
                       : MarkupToken::kOpen;
  constexpr uint32_t kRaw = html::kRawText | html::kReferenceText;
  if (token.kind == MarkupToken::kOpen && !foreign_ &&
      (token.categories & kRaw) != 0) {
    raw_ = token.name;
    raw_is_text_ =
        (token.categories & html::kReferenceText) != 0 || raw_ == "plaintext";
  }
  return last + 1;
}

AttributeText MarkupLexer::TextOf(absl::string_view value) const {
  const int begin = static_cast<int>(value.data() - text_.data());
  const char before = text_[begin - 1];
  return {.value = {begin, begin + static_cast<int>(value.size())},
          .quote = before == '"' || before == '\'' ? before : '\0'};
}

bool MarkupLexer::HasTagName(size_t at, absl::string_view name) const {
  const size_t end = at + name.size();
  return absl::StartsWithIgnoreCase(text_.substr(std::min(at, text_.size())),
                                    name) &&
         (end >= text_.size() || absl::StrContains(" \t\r\n\f/>", text_[end]));
}

size_t MarkupLexer::RawEnd() const {
  if (raw_ == "plaintext") return text_.size();
  for (size_t at = text_.find("</", at_); at != text_.npos;
       at = text_.find("</", at + 2)) {
    if (HasTagName(at + 2, raw_)) return at;
  }
  return text_.size();
}

// A script inside of a comment in a script is a part of that comment (section
// 13.2.5.17 and following ones).
size_t MarkupLexer::ScriptEnd() const {
  bool comment = false, script = false;
  for (size_t at = at_; at < text_.size();) {
    at = text_.find_first_of("<-", at);
    if (at == text_.npos) break;
    const absl::string_view rest = text_.substr(at);
    if (absl::StartsWith(rest, "<!--")) {
      comment = true;
      ++at;  // "<!-->" ends it, too
    } else if (absl::StartsWith(rest, "-->")) {
      comment = script = false;
    } else if (absl::StartsWith(rest, "</") && HasTagName(at + 2, raw_)) {
      if (!script) return at;
      script = false;
    } else if (comment && rest[0] == '<' && HasTagName(at + 1, raw_)) {
      script = true;
    }
    ++at;
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
