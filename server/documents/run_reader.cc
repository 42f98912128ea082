#include "server/documents/run_reader.h"

#include <cstddef>
#include <utility>
#include <vector>

#include "absl/memory/memory.h"
#include "absl/status/status.h"
#include "absl/strings/str_format.h"
#include "engine/tensor/status_macros.h"
#include "server/documents/html_elements.h"

namespace attend {
namespace {

// Which elements of an XML document are inside of a line, by token.
std::vector<bool> FindInlineElements(absl::string_view document,
                                     const std::vector<MarkupToken>& tokens) {
  constexpr size_t kNone = static_cast<size_t>(-1);
  // The elements that have text of their own.
  std::vector<bool> mixed(tokens.size());
  std::vector<size_t> parent(tokens.size(), kNone);
  std::vector<size_t> open;
  for (size_t i = 0; i < tokens.size(); ++i) {
    const MarkupToken& token = tokens[i];
    if (token.kind == MarkupToken::kClose && !open.empty()) {
      parent[i] = open.back();  // its start tag, until it is known
      open.pop_back();
      continue;
    }
    parent[i] = open.empty() ? kNone : open.back();
    if (token.kind == MarkupToken::kOpen) open.push_back(i);
    const TextRange all = {token.begin, token.end};
    if (token.kind == MarkupToken::kText && !open.empty() &&
        Trim(document, all).size() > 0) {
      mixed[open.back()] = true;
    }
  }
  // Parents come before their children.
  std::vector<bool> inside(tokens.size());
  for (size_t i = 0; i < tokens.size(); ++i) {
    if (parent[i] == kNone) continue;
    inside[i] = tokens[i].kind == MarkupToken::kClose
                    ? inside[parent[i]]
                    : mixed[parent[i]] || inside[parent[i]];
  }
  return inside;
}

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

}  // namespace

absl::StatusOr<std::unique_ptr<RunReader>> RunReader::Open(
    absl::string_view document, MarkupKind kind) {
  ASSIGN_OR_RETURN(std::vector<MarkupToken> tokens, Lex(document, kind));
  return absl::WrapUnique(new RunReader(document, kind, std::move(tokens)));
}

RunReader::RunReader(absl::string_view document, MarkupKind kind,
                     std::vector<MarkupToken> tokens)
    : document_(document),
      kind_(kind),
      tokens_(std::move(tokens)),
      inline_(kind == MarkupKind::kXml ? FindInlineElements(document, tokens_)
                                       : std::vector<bool>()) {}

absl::StatusOr<std::optional<Run>> RunReader::Next() {
  while (next_ < tokens_.size()) {
    ASSIGN_OR_RETURN(Run run, ReadOne());
    if (run.text().empty()) continue;
    run.MatchTags();
    return run;
  }
  return std::nullopt;
}

// Up to the next border, or to the end.
absl::StatusOr<Run> RunReader::ReadOne() {
  Run run;
  while (next_ < tokens_.size()) {
    const size_t first = next_++;
    const MarkupToken& token = tokens_[first];
    if (token.kind == MarkupToken::kText) {
      run.AddMarkedUp(document_, {token.begin, token.end}, kind_);
      if (run.objects().size() > size_t{kMostMarkup}) return TooMuch();
      continue;
    }
    const size_t last = Untranslated(token) ? EndOf(first) : first;
    next_ = last + 1;
    if (IsBlock(first)) return run;
    if (last > first) {
      run.AddObject({token.begin, tokens_[last].end});
    } else {
      run.AddTag(token);
    }
  }
  return run;
}

bool RunReader::Untranslated(const MarkupToken& token) const {
  return token.kind == MarkupToken::kOpen &&
         (token.untranslated ||
          (kind_ == MarkupKind::kHtml && IsUntranslatedElement(token.name)));
}

// The token with the end tag of the element that begins with token `open`; the
// last token if there is none.
size_t RunReader::EndOf(size_t open) const {
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
bool RunReader::IsBlock(size_t i) const {
  const MarkupToken& token = tokens_[i];
  if (token.kind == MarkupToken::kOther) return false;
  return kind_ == MarkupKind::kHtml ? IsBlockElement(token.name) : !inline_[i];
}

}  // namespace attend
