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

Run Run::OfAttribute(absl::string_view document, AttributeText text) {
  Run run(text.quote == '"'    ? Escaping::kQuoted
          : text.quote == '\'' ? Escaping::kSingleQuoted
                               : Escaping::kUnquoted);
  run.AddMarkedUp(document, text.value, MarkupKind::kHtml);
  return run;
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

void Run::AddReferences(
    absl::string_view document, TextRange source, MarkupKind kind,
    absl::FunctionRef<bool(const CharacterReference&, TextRange)> add) {
  int plain = source.begin;  // where text begins that was not added yet
  int at = source.begin;
  while (at < source.end) {
    const size_t found = document.substr(0, source.end).find('&', at);
    at = found == document.npos ? source.end : static_cast<int>(found);
    if (at == source.end) break;
    const CharacterReference reference =
        ReadReference(document.substr(at, source.end - at), kind);
    const TextRange place = {at, at + reference.length};
    AddText(document, {plain, at});
    plain = at;
    if (reference.length > 0 && add(reference, place)) {
      plain = at = place.end;
    } else {
      ++at;
    }
  }
  AddText(document, {plain, source.end});
}

void Run::AddEscaped(absl::string_view document, TextRange source) {
  AddReferences(document, source, MarkupKind::kHtml,
                [&](const CharacterReference& reference, TextRange place) {
                  const bool ends = document[place.end - 1] == ';';
                  if (!ends || reference.character.empty()) return false;
                  AddReplaced(reference.character, place);
                  return true;
                });
}

void Run::AddMarkedUp(absl::string_view document, TextRange source,
                      MarkupKind kind) {
  AddReferences(document, source, kind,
                [&](const CharacterReference& reference, TextRange place) {
                  if (reference.character.empty()) {
                    AddObject(place);
                  } else {
                    AddReplaced(reference.character, place);
                  }
                  return true;
                });
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

void Run::MakeObjects(const std::vector<TextRange>& ranges) {
  if (ranges.empty()) return;
  const Run from = std::exchange(*this, Run(escaping_));
  int done = 0;  // bytes of the text of `from`
  auto object = from.objects_.begin();
  auto tag = from.tags_.begin();
  const auto add_up_to = [&](int end, bool kept) {
    if (end == done) return;
    if (kept) {
      AddObject({from.SourceBegin(done), from.SourceEnd(end)});
    } else {
      const int moved = static_cast<int>(text_.size()) - done;
      for (; object != from.objects_.end() && object->position < end;
           ++object) {
        objects_.push_back({object->position + moved, object->source});
      }
      AddRange(from, {done, end});
    }
    done = end;
  };
  const auto add = [&](int end, bool kept) {
    for (; tag != from.tags_.end() && tag->position <= end; ++tag) {
      add_up_to(tag->position, kept);
      AddTag(*tag);
    }
    add_up_to(end, kept);
  };
  for (const TextRange range : ranges) {
    add(range.begin, false);
    add(range.end, true);
  }
  add(static_cast<int>(from.text_.size()), false);
}

void Run::AddRange(const Run& from, TextRange range) {
  const Part* const end = from.parts_.data() + from.parts_.size();
  for (const Part* part = &from.PartOf(range.begin);
       part != end && part->text.begin < range.end; ++part) {
    const TextRange text = {std::max(part->text.begin, range.begin),
                            std::min(part->text.end, range.end)};
    TextRange source = part->source;
    if (part->same) {
      source = {from.SourceBegin(text.begin), from.SourceEnd(text.end)};
    }
    Add(absl::string_view(from.text_).substr(text.begin, text.size()), source,
        part->same);
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
