#include "server/documents/run.h"

#include <algorithm>
#include <utility>

#include "server/documents/character_references.h"
#include "server/documents/hidden_characters.h"

namespace attend {

void Run::Add(absl::string_view text, TextRange source, bool same) {
  const int begin = static_cast<int>(text_.size());
  text_.append(text.data(), text.size());
  const TextRange added = {begin, static_cast<int>(text_.size())};
  if (added.size() > 0) parts_.push_back({added, source, same});
}

void Run::AddText(absl::string_view document, TextRange source) {
  const absl::string_view text = document.substr(0, source.end);
  int plain = source.begin;  // where text begins that was not added yet
  for (int at = source.begin; at < source.end;) {
    at = FindMaybeHidden(text, at);
    const absl::string_view before =
        at > plain ? text.substr(plain, at - plain) : text_;
    const int hidden =
        at < source.end ? HiddenSize(before, text.substr(at)) : 0;
    if (hidden == 0) {
      ++at;
      continue;
    }
    Add(text.substr(plain, at - plain), {plain, at}, true);
    plain = at += hidden;
  }
  if (plain < source.end) {
    Add(text.substr(plain), {plain, source.end}, true);
  }
}

void Run::AddMarkedUp(absl::string_view document, TextRange source,
                      MarkupKind kind) {
  int plain = source.begin;  // where text begins that was not added yet
  int at = source.begin;
  while (at < source.end) {
    const size_t found = document.substr(0, source.end).find('&', at);
    at = found == document.npos ? source.end : static_cast<int>(found);
    if (at == source.end) break;
    const CharacterReference reference =
        ReadReference(document.substr(at, source.end - at), kind);
    if (reference.length == 0) {
      ++at;
      continue;
    }
    AddText(document, {plain, at});
    const TextRange place = {at, at + reference.length};
    if (reference.character.empty()) {
      AddObject(place);
    } else {
      AddReplaced(reference.character, place);
    }
    plain = at = place.end;
  }
  AddText(document, {plain, source.end});
}

void Run::AddReplaced(absl::string_view text, TextRange source) {
  if (HiddenSize(text_, text) == 0) Add(text, source, false);
}

void Run::AddObject(TextRange source) {
  objects_.push_back({static_cast<int>(text_.size()), source});
  Add(kObjectCharacter, source, false);
}

void Run::AddTag(const MarkupToken& token) {
  AddTag({.kind = token.kind == MarkupToken::kOpen    ? Tag::kOpen
                  : token.kind == MarkupToken::kClose ? Tag::kClose
                                                      : Tag::kEmpty,
          .source = {token.begin, token.end},
          .name = token.name});
}

void Run::AddTag(Tag tag) {
  tag.position = static_cast<int>(text_.size());
  tags_.push_back(std::move(tag));
}

void Run::MatchTags() {
  std::vector<int> open;
  for (int i = 0; i < static_cast<int>(tags_.size()); ++i) {
    Tag& tag = tags_[i];
    if (tag.kind == Tag::kOpen) open.push_back(i);
    if (tag.kind != Tag::kClose || open.empty()) continue;
    // Looks at few only: HTML that is not well-formed may have many.
    constexpr size_t kDeepest = 64;
    const auto last = open.rbegin() + std::min(open.size(), kDeepest);
    const auto found = std::find_if(open.rbegin(), last, [&](int other) {
      return tags_[other].name == tag.name;
    });
    if (found == last) {
      tag.kind = Tag::kEmpty;
      continue;
    }
    for (auto crossed = open.rbegin(); crossed != found; ++crossed) {
      tags_[*crossed].kind = Tag::kEmpty;
    }
    tag.partner = *found;
    tags_[*found].partner = i;
    open.erase(found.base() - 1, open.end());
  }
}

const Run::Part& Run::PartOf(int position) const {
  return *(std::upper_bound(
               parts_.begin(), parts_.end(), position,
               [](int at, const Part& part) { return at < part.text.begin; }) -
           1);
}

int Run::SourceBegin(int position) const {
  const Part& part = PartOf(position);
  return part.source.begin + (part.same ? position - part.text.begin : 0);
}

int Run::SourceEnd(int position) const {
  const Part& part = PartOf(position - 1);
  return part.same ? part.source.begin + position - part.text.begin
                   : part.source.end;
}

}  // namespace attend
