#include "server/documents/run_reader.h"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "absl/memory/memory.h"
#include "absl/strings/match.h"
#include "engine/tensor/status_macros.h"
#include "server/documents/html_elements.h"
#include "server/documents/text_breaks.h"

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

// Tags that are looked at on either side of a border between two words.
constexpr size_t kMostTagsBetweenWords = 64;

}  // namespace

absl::StatusOr<std::unique_ptr<RunReader>> RunReader::Open(
    absl::string_view document, MarkupKind kind, int begin) {
  ASSIGN_OR_RETURN(ElementTree tree, ReadElements(document, kind, begin));
  return absl::WrapUnique(new RunReader(document, kind, std::move(tree)));
}

RunReader::RunReader(absl::string_view document, MarkupKind kind,
                     ElementTree tree)
    : document_(document),
      kind_(kind),
      tree_(std::move(tree)),
      inline_(kind == MarkupKind::kXml
                  ? FindInlineElements(document, tree_.tokens)
                  : std::vector<bool>()),
      translated_before_({0}),
      blocks_before_({0}) {
  for (size_t i = 0; i < tree_.tokens.size(); ++i) {
    translated_before_.push_back(translated_before_.back() +
                                 tree_.translated[i]);
    blocks_before_.push_back(blocks_before_.back() + IsBlock(i));
  }
}

absl::StatusOr<std::optional<Run>> RunReader::Next() {
  if (std::optional<Run> run = NextAttribute()) return run;
  while (next_ < tree_.tokens.size()) {
    ASSIGN_OR_RETURN(Run run, ReadOne());
    if (run.text().empty()) continue;
    run.MatchTags();
    return run;
  }
  return std::nullopt;
}

std::optional<Run> RunReader::NextAttribute() {
  for (; next_tag_ < tree_.tokens.size(); ++next_tag_, next_attribute_ = 0) {
    const std::vector<AttributeText>& texts = tree_.tokens[next_tag_].texts;
    if (next_attribute_ == texts.size()) continue;
    return Run::OfAttribute(document_, texts[next_attribute_++]);
  }
  return std::nullopt;
}

// Up to the next border, or to the end.
absl::StatusOr<Run> RunReader::ReadOne() {
  Run run(Escaping::kMarkup);
  while (next_ < tree_.tokens.size()) {
    const size_t first = next_++;
    if (tree_.apart[first]) return run;
    if (tree_.tokens[first].kind == MarkupToken::kText) {
      ReadText(first, run);
      if (run.objects().size() > size_t{kMostMarkup}) return TooMuchMarkup();
    } else if (!ReadMarkup(first, run)) {
      return run;
    }
  }
  return run;
}

bool RunReader::ReadMarkup(size_t first, Run& run) {
  const MarkupToken& token = tree_.tokens[first];
  const size_t last = static_cast<size_t>(tree_.last[first]);
  const TextRange all = {token.begin, tree_.tokens[last].end};
  const bool whole = IsUntranslated(first);
  if (IsBlock(first)) {
    if (whole) next_ = last + 1;
    return false;
  }
  if (DividesWords(run, first)) {
    // A tag that opens belongs to the next run.
    if (token.kind == MarkupToken::kOpen) next_ = first;
    return false;
  }
  if (whole) {
    run.AddObject(all);
    next_ = last + 1;
  } else if (token.kind == MarkupToken::kOpen &&
             (token.categories & html::kAnnotation) != 0) {
    run.AddTag(
        {.kind = MarkupToken::kOther, .begin = all.begin, .end = all.end});
    next_ = last + 1;
  } else {
    run.AddTag(token);
  }
  return true;
}

void RunReader::ReadText(size_t token, Run& run) const {
  const TextRange all = {tree_.tokens[token].begin, tree_.tokens[token].end};
  const TextRange kept = tree_.translated[token] ? TextRange{all.end, all.end}
                                                 : Trim(document_, all);
  run.AddMarkedUp(document_, {all.begin, kept.begin}, kind_);
  if (kept.size() > 0) run.AddObject(kept);
  run.AddMarkedUp(document_, {kept.end, all.end}, kind_);
}

// An element in which something is translated, or that blocks interrupt, is
// read token by token.
bool RunReader::IsUntranslated(size_t first) const {
  const size_t last = static_cast<size_t>(tree_.last[first]);
  if (tree_.tokens[first].kind != MarkupToken::kOpen ||
      tree_.translated[first] ||
      translated_before_[last + 1] > translated_before_[first]) {
    return false;
  }
  return IsBlock(first) ||
         (tree_.tokens[first].categories & html::kNeverTranslated) != 0 ||
         blocks_before_[last + 1] == blocks_before_[first];
}

// Comments and the like have no name: they end no sentence.
bool RunReader::IsBlock(size_t i) const {
  const MarkupToken& token = tree_.tokens[i];
  if (token.kind == MarkupToken::kOther || token.kind == MarkupToken::kText) {
    return false;
  }
  return kind_ == MarkupKind::kHtml ? (token.categories & html::kBlock) != 0
                                    : !inline_[i];
}

bool RunReader::DividesWords(const Run& run, size_t first) const {
  const MarkupToken& token = tree_.tokens[first];
  const bool opens = token.kind == MarkupToken::kOpen;
  if (kind_ != MarkupKind::kHtml || token.kind == MarkupToken::kClose ||
      !(opens || (token.categories & html::kReplaced) != 0)) {
    return false;
  }
  const bool after_object = absl::EndsWith(run.text(), kObjectCharacter);
  if (!after_object && !EndsInWord(run.text())) return false;
  // The element that ended since the last word.
  bool ended = tree_.follows[first];
  bool control = (token.categories & html::kControl) != 0;
  size_t looked_at = 0;
  for (auto tag = run.tags().rbegin();
       tag != run.tags().rend() && looked_at < kMostTagsBetweenWords &&
       tag->position == static_cast<int>(run.text().size());
       ++tag, ++looked_at) {
    if (tag->kind != Run::Tag::kClose) continue;
    ended = true;
    control |= (html::CategoriesOf(tag->name) & html::kControl) != 0;
  }
  if (opens && !ended) return false;
  const absl::string_view next = TextAfter(first);
  if (!BeginsWithWord(next)) return false;
  return !opens || control ||
         (!after_object && !EndsUpper(run.text()) && BeginsUpper(next));
}

absl::string_view RunReader::TextAfter(size_t first) const {
  const size_t end =
      std::min(tree_.tokens.size(), first + kMostTagsBetweenWords);
  for (size_t i = first; i < end; ++i) {
    const MarkupToken& token = tree_.tokens[i];
    if (token.kind == MarkupToken::kText) {
      return document_.substr(token.begin, token.end - token.begin);
    }
    if (IsBlock(i)) break;
  }
  return "";
}

}  // namespace attend
