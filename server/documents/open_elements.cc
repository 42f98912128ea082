#include "server/documents/open_elements.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "server/documents/html_elements.h"

namespace attend {
namespace {

// Elements that are looked at for the one that a tag ends: as many as browsers
// allow in each other, so that time stays in proportion to the document.
constexpr size_t kDeepestElement = 512;

// Formatting elements that go on in the next block. (The standard limits equal
// ones.)
constexpr size_t kMostInterrupted = 16;

}  // namespace

void OpenElements::Add(const MarkupToken& token, int index) {
  follows_ = translates_attributes_ = false;
  switch (token.kind) {
    case MarkupToken::kText:
      Resume(token);
      return;
    case MarkupToken::kOther:
      return;
    case MarkupToken::kOpen:
    case MarkupToken::kEmpty:
      if (kind_ == MarkupKind::kHtml) ImplyEnds(token, index);
      Resume(token);
      translates_attributes_ = TranslatesAttributes(token);
      if (token.kind == MarkupToken::kOpen) Open(token, index);
      return;
    case MarkupToken::kClose:
      if (kind_ == MarkupKind::kHtml) {
        CloseHtml(token, index);
      } else {
        CloseFrom(Find(token.name, 0), index, true);
      }
  }
}

void OpenElements::CloseAll(int end) {
  for (const Element& element : open_) Record(element, end - 1);
  open_.clear();
}

void OpenElements::Open(const MarkupToken& token, int index) {
  const auto is = [&](uint32_t categories) {
    return (token.categories & categories) != 0;
  };
  Element element = {.name = token.name,
                     .categories = token.categories,
                     .token = index,
                     .says = token.translate,
                     .never = is(html::kNeverTranslated),
                     .formatting = !in_foreign() && is(html::kFormatting)};
  if (element.says == MarkupToken::kInherit && is(html::kUntranslated)) {
    element.says = MarkupToken::kNo;
  }
  ++count_[token.name];
  const int place = static_cast<int>(open_.size()) - interrupted_;
  open_.insert(open_.begin() + place, std::move(element));
  Inherit(place);
}

void OpenElements::Resume(const MarkupToken& token) {
  const bool block = token.kind != MarkupToken::kText &&
                     (token.categories & html::kSpecial) != 0 &&
                     (token.categories & html::kReplaced) == 0 &&
                     token.name != "button";
  if (!block) interrupted_ = 0;
}

bool OpenElements::TranslatesAttributes(const MarkupToken& token) const {
  const size_t place = open_.size() - static_cast<size_t>(interrupted_);
  const Element* const parent = place == 0 ? nullptr : &open_[place - 1];
  if (parent == nullptr) return token.translate != MarkupToken::kNo;
  if (token.translate == MarkupToken::kInherit) return parent->translated;
  return token.translate == MarkupToken::kYes && !parent->never;
}

void OpenElements::Inherit(int first) {
  for (size_t i = static_cast<size_t>(std::max(first, 0)); i < open_.size();
       ++i) {
    Element& element = open_[i];
    const Element* const parent = i == 0 ? nullptr : &open_[i - 1];
    const auto is = [&](uint32_t categories) {
      return (element.categories & categories) != 0;
    };
    element.never |= parent != nullptr && parent->never;
    const bool inherited = parent == nullptr || parent->translated;
    element.translated =
        !element.never && (element.says == MarkupToken::kInherit
                               ? inherited
                               : element.says == MarkupToken::kYes);
    element.kept_block = is(html::kBlock)
                             ? !element.translated
                             : parent != nullptr && parent->kept_block;
    element.foreign =
        is(html::kForeign) ||
        (parent != nullptr && parent->foreign && !is(html::kIntegration));
  }
}

// The rules for start tags of "in body" and the modes of tables (sections
// 13.2.6.4.7 to 13.2.6.4.15).
void OpenElements::ImplyEnds(const MarkupToken& token, int index) {
  const auto is = [&](uint32_t categories) {
    return (token.categories & categories) != 0;
  };
  if (in_foreign()) {
    if (!is(html::kEndsForeign)) return;
    const auto around =
        std::find_if(open_.rbegin(), open_.rend(),
                     [](const Element& e) { return !e.foreign; });
    CloseFrom(static_cast<int>(open_.rend() - around), index - 1, false);
  }
  if (is(html::kEndsParagraph)) {
    CloseFrom(Find("p", html::kParagraphContext), index - 1, false);
  }
  if (is(html::kHeading)) {
    if (!open_.empty() && (open_.back().categories & html::kHeading) != 0) {
      CloseFrom(static_cast<int>(open_.size()) - 1, index - 1, false);
    }
  } else if (token.name == "a" || token.name == "nobr") {
    follows_ = Find(token.name, html::kMarker) >= 0;
    if (follows_) CloseFormatting(token.name, index - 1);
  } else if (is(html::kTable) || token.name == "col") {
    ImplyTableEnds(token.name, index);
  } else {
    ImplyItemEnds(token.name, index);
  }
}

void OpenElements::ImplyItemEnds(absl::string_view name, int index) {
  int found = -1;
  if (name == "li") {
    found = Find(name, html::kItemBarrier);
  } else if (name == "dd" || name == "dt") {
    found = std::max(Find("dd", html::kItemBarrier),
                     Find("dt", html::kItemBarrier));
  } else if (name == "button") {
    found = Find(name, html::kScope);
  } else if (name == "option") {
    if (!open_.empty() && open_.back().name == name) {
      found = static_cast<int>(open_.size()) - 1;
    }
  } else if (name == "optgroup") {
    found = FindChain(html::kOptions);
  } else if (name == "rb" || name == "rtc") {
    found = FindChain(html::kRuby);
  } else if (name == "rt" || name == "rp") {
    found = FindChain(html::kRubyText);
  } else if (name == "body") {
    found = Find("head", 0);
  }
  if (found < 0) return;
  follows_ = open_[found].name == name;
  CloseFrom(found, index - 1, false);
}

void OpenElements::ImplyTableEnds(absl::string_view name, int index) {
  if (name == "table" ||
      (name == "col" && !open_.empty() && open_.back().name == "colgroup")) {
    return;
  }
  const uint32_t context = name == "td" || name == "th" ? html::kCellContext
                           : name == "tr"               ? html::kRowContext
                                                        : html::kTableContext;
  int first = Find(context, 0);
  if (first >= 0) {
    ++first;
  } else {
    // Without a table, a cell ends a cell, and a row ends a row.
    first = Find(name, 0);
    if (first < 0) first = Find(html::kCell, 0);
  }
  if (first < 0 || first >= static_cast<int>(open_.size())) return;
  CloseFrom(first, index - 1, false);
}

// The rules for end tags.
void OpenElements::CloseHtml(const MarkupToken& token, int index) {
  const absl::string_view name = token.name;
  const auto is = [&](uint32_t categories) {
    return (token.categories & categories) != 0;
  };
  if (in_foreign() && CloseForeign(name, index)) return;
  if (is(html::kFormatting)) {
    CloseFormatting(name, index);
  } else if (is(html::kHeading)) {
    CloseFrom(Find(html::kHeading, html::kScope), index, true);
  } else if (name != "body" && name != "html") {
    uint32_t barrier = html::kSpecial;
    if (is(html::kSpecial)) barrier = html::kScope;
    if (is(html::kTable)) barrier = html::kTableContext;
    if (name == "p") barrier = html::kParagraphContext;
    if (name == "li") barrier = html::kListContext;
    if (name == "template") barrier = 0;
    CloseFrom(Find(name, barrier), index, true);
  }
}

// False: the tag is one of HTML.
bool OpenElements::CloseForeign(absl::string_view name, int index) {
  if (name == "p" || name == "br") return false;
  const size_t depth = std::min(open_.size(), kDeepestElement);
  for (size_t i = open_.size(); i > open_.size() - depth; --i) {
    if (open_[i - 1].name == name) {
      CloseFrom(static_cast<int>(i) - 1, index, true);
      return true;
    }
    // The parent's content is HTML.
    if (i >= 2 && !open_[i - 2].foreign) return false;
  }
  return false;
}

// The adoption agency algorithm (section 13.2.6.4.7), as far as it says where
// an element ends: elements that are not special end with it, blocks inside of
// it go on.
void OpenElements::CloseFormatting(absl::string_view name, int index) {
  const int found = Find(name, html::kMarker);
  if (found < 0) return;
  const bool has_block = std::any_of(
      open_.begin() + found, open_.end(),
      [](const Element& e) { return (e.categories & html::kSpecial) != 0; });
  if (!has_block) {
    CloseFrom(found, index, true);
    return;
  }
  Record(open_[found], index);
  const int after = static_cast<int>(open_.size()) - found;
  if (after <= interrupted_) --interrupted_;
  open_.erase(open_.begin() + found);
  Inherit(found);
}

int OpenElements::Find(absl::string_view name, uint32_t barrier) const {
  const auto count = count_.find(name);
  if (count == count_.end() || count->second == 0) return -1;
  const size_t depth = std::min(open_.size(), kDeepestElement);
  for (size_t i = open_.size(); i > open_.size() - depth; --i) {
    if (open_[i - 1].name == name) return static_cast<int>(i) - 1;
    if ((open_[i - 1].categories & barrier) != 0) return -1;
  }
  return -1;
}

int OpenElements::Find(uint32_t categories, uint32_t barrier) const {
  const size_t depth = std::min(open_.size(), kDeepestElement);
  for (size_t i = open_.size(); i > open_.size() - depth; --i) {
    const uint32_t found = open_[i - 1].categories;
    if ((found & categories) != 0) return static_cast<int>(i) - 1;
    if ((found & barrier) != 0) return -1;
  }
  return -1;
}

int OpenElements::FindChain(uint32_t categories) const {
  size_t first = open_.size();
  while (first > 0 && (open_[first - 1].categories & categories) != 0) --first;
  return first == open_.size() ? -1 : static_cast<int>(first);
}

void OpenElements::Record(const Element& element, int last) {
  last_[element.token] = std::max(last, element.token);
  --count_[element.name];
}

void OpenElements::CloseFrom(int first, int last, bool by_end_tag) {
  if (first < 0) return;
  const int before = static_cast<int>(open_.size()) - interrupted_;
  bool marked = false;  // formatting elements inside end, too
  std::vector<Element> kept;
  for (size_t i = static_cast<size_t>(first); i < open_.size(); ++i) {
    const bool is_first = i == static_cast<size_t>(first);
    marked |= open_[i].foreign || (open_[i].categories & html::kMarker) != 0;
    if (open_[i].formatting && !marked && !is_first) {
      kept.push_back(std::move(open_[i]));
    } else {
      Record(open_[i], by_end_tag && !is_first ? last - 1 : last);
    }
  }
  open_.resize(first);
  const size_t dropped = kept.size() - std::min(kept.size(), kMostInterrupted);
  for (size_t i = 0; i < kept.size(); ++i) {
    if (i < dropped) {
      Record(kept[i], last);
    } else {
      open_.push_back(std::move(kept[i]));
    }
  }
  interrupted_ = static_cast<int>(open_.size()) - std::min(first, before);
  Inherit(first);
}

}  // namespace attend
