#include "server/documents/run_reader.h"

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_format.h"
#include "engine/tensor/status_macros.h"
#include "server/documents/html_elements.h"

namespace attend {
namespace {

// Which elements of an XML document are inside of a line: those whose parent
// has text of its own, and what is in them. Index: of the token.
class InlineElements {
 public:
  InlineElements(absl::string_view document,
                 const std::vector<MarkupToken>& tokens)
      : mixed_(tokens.size()), parent_(tokens.size(), kNone) {
    std::vector<size_t> open;
    for (size_t i = 0; i < tokens.size(); ++i) {
      const MarkupToken& token = tokens[i];
      if (token.kind == MarkupToken::kClose && !open.empty()) {
        parent_[i] = open.back();  // its start tag, until it is known
        open.pop_back();
        continue;
      }
      parent_[i] = open.empty() ? kNone : open.back();
      if (token.kind == MarkupToken::kOpen) open.push_back(i);
      const TextRange all = {token.begin, token.end};
      if (token.kind == MarkupToken::kText && !open.empty() &&
          Trim(document, all).size() > 0) {
        mixed_[open.back()] = true;
      }
    }
    // Parents come before their children.
    inside_.resize(tokens.size());
    for (size_t i = 0; i < tokens.size(); ++i) {
      const size_t parent = parent_[i];
      if (parent == kNone) continue;
      inside_[i] = tokens[i].kind == MarkupToken::kClose
                       ? inside_[parent]
                       : mixed_[parent] || inside_[parent];
    }
  }

  bool Has(size_t token) const { return inside_[token]; }

 private:
  static constexpr size_t kNone = static_cast<size_t>(-1);

  std::vector<bool> mixed_, inside_;
  std::vector<size_t> parent_;
};

absl::Status TooMuch() {
  return absl::InvalidArgumentError(absl::StrFormat(
      "has more than %d tags, comments and objects", kMostMarkup));
}

absl::StatusOr<std::vector<MarkupToken>> Lex(absl::string_view document,
                                             MarkupKind kind) {
  MarkupLexer lexer(document, kind);
  std::vector<MarkupToken> tokens;
  int markup = 0;
  for (MarkupToken token; lexer.Next(token);) {
    markup += token.kind != MarkupToken::kText;
    if (markup > kMostMarkup) return TooMuch();
    tokens.push_back(std::move(token));
  }
  return tokens;
}

class RunReader {
 public:
  RunReader(absl::string_view document, MarkupKind kind,
            std::vector<MarkupToken> tokens,
            absl::FunctionRef<absl::Status(Run&)> use)
      : document_(document),
        kind_(kind),
        use_(use),
        tokens_(std::move(tokens)),
        inline_(document, kind == MarkupKind::kXml
                              ? tokens_
                              : std::vector<MarkupToken>()) {}

  absl::Status Read() {
    for (size_t i = 0; i < tokens_.size(); ++i) {
      const MarkupToken& token = tokens_[i];
      if (token.kind == MarkupToken::kText) {
        run_.AddMarkedUp(document_, {token.begin, token.end}, kind_);
        if (run_.objects().size() > size_t{kMostMarkup}) return TooMuch();
        continue;
      }
      const size_t last = Untranslated(token) ? EndOf(i) : i;
      if (IsBlock(i)) {
        RETURN_IF_ERROR(Flush());
      } else if (last > i) {
        run_.AddObject({token.begin, tokens_[last].end});
      } else {
        run_.AddTag(token);
      }
      i = last;
    }
    return Flush();
  }

 private:
  bool Untranslated(const MarkupToken& token) const {
    return token.kind == MarkupToken::kOpen &&
           (token.untranslated ||
            (kind_ == MarkupKind::kHtml && IsUntranslatedElement(token.name)));
  }
  // The token with the end tag of the element that begins with token `open`;
  // the last token if there is none.
  size_t EndOf(size_t open) const {
    int depth = 0;
    for (size_t i = open; i < tokens_.size(); ++i) {
      if (tokens_[i].name != tokens_[open].name) continue;
      depth += tokens_[i].kind == MarkupToken::kOpen;
      depth -= tokens_[i].kind == MarkupToken::kClose;
      if (depth == 0) return i;
    }
    return tokens_.size() - 1;
  }
  // Comments and the like have no name: they end no sentence.
  bool IsBlock(size_t i) const {
    const MarkupToken& token = tokens_[i];
    if (token.kind == MarkupToken::kOther) return false;
    return kind_ == MarkupKind::kHtml ? IsBlockElement(token.name)
                                      : !inline_.Has(i);
  }

  absl::Status Flush() {
    Run run = std::exchange(run_, Run());
    if (run.text().empty()) return absl::OkStatus();
    run.MatchTags();
    return use_(run);
  }

  const absl::string_view document_;
  const MarkupKind kind_;
  const absl::FunctionRef<absl::Status(Run&)> use_;
  const std::vector<MarkupToken> tokens_;
  const InlineElements inline_;
  Run run_;
};

}  // namespace

absl::Status ReadRuns(absl::string_view document, MarkupKind kind,
                      absl::FunctionRef<absl::Status(Run&)> use) {
  ASSIGN_OR_RETURN(std::vector<MarkupToken> tokens, Lex(document, kind));
  return RunReader(document, kind, std::move(tokens), use).Read();
}

}  // namespace attend
