#include "server/documents/markdown_block.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "server/documents/html_elements.h"
#include "server/documents/markup_lexer.h"

namespace attend {
namespace {

// Bytes before the first text of a block that may be its marks.
constexpr int kLongestFirstMarks = 2048;

const char* NameOf(MarkdownEvent::Kind kind) {
  switch (kind) {
    case MarkdownEvent::kStrong:
      return "strong";
    case MarkdownEvent::kStrikethrough:
      return "del";
    case MarkdownEvent::kLink:
      return "a";
    default:
      return "em";
  }
}

bool IsBreak(MarkdownEvent::Kind kind) {
  return kind == MarkdownEvent::kSoftBreak || kind == MarkdownEvent::kHardBreak;
}

}  // namespace

void MarkdownBlock::AddText(TextRange source, bool is_reference) {
  TakeEvents(source.begin);
  const bool escaped =
      source.begin > 0 && document_[source.begin - 1] == '\\' &&
      source.begin > floor_ && absl::ascii_ispunct(document_[source.begin]);
  const int label = has_begun_ ? 0 : LabelSize(source);
  has_begun_ = true;
  floor_ = source.end;
  if (is_hidden() && !picture_) return;
  Run& run = picture_ ? *picture_ : run_;
  if (label > 0) {
    const TextRange mark = {source.begin, source.begin + label};
    run.AddTag({.kind = Run::Tag::kEmpty, .source = mark});
    source.begin = mark.end;
  } else if (escaped) {
    ++marks_;
    run.AddReplaced(document_.substr(source.begin, 1),
                    {source.begin - 1, source.begin + 1});
    ++source.begin;
  }
  if (is_reference) {
    ++marks_;
    run.AddMarkedUp(document_, source, MarkupKind::kHtml);
  } else {
    run.AddText(document_, source);
  }
}

void MarkdownBlock::AddCode(TextRange source) {
  TakeEvents(source.begin);
  has_begun_ = true;
  floor_ = source.end;
}

// "[^1]:" and "[!NOTE]" stay as they are.
int MarkdownBlock::LabelSize(TextRange source) const {
  const absl::string_view text = document_.substr(source.begin, source.size());
  const size_t end = text.find(']');
  if (end == text.npos) return 0;
  const absl::string_view label = text.substr(0, end);
  if (absl::StartsWith(label, "[^") && text.substr(end, 2) == "]:" &&
      !absl::StrContains(label, ' ')) {
    return static_cast<int>(end) + 2;
  }
  const bool kind = absl::StartsWith(label, "[!") && end + 1 == text.size() &&
                    std::all_of(label.begin() + 2, label.end(),
                                [](char c) { return absl::ascii_isupper(c); });
  return kind ? static_cast<int>(end) + 1 : 0;
}

void MarkdownBlock::TakeEvents(int begin) {
  if (events_.empty()) {
    // Nothing but a backslash may be between two texts.
    const int between = begin - floor_;
    const bool none =
        between == 0 || (between == 1 && document_[floor_] == '\\');
    failed_ |= has_begun_ && !is_hidden() && !none;
    return;
  }
  const auto marks = has_begun_ ? FindMarks(document_, events_, {floor_, begin},
                                            false, autolinks_)
                                : FindFirstMarks(begin);
  const std::vector<MarkdownEvent> events = std::exchange(events_, {});
  for (size_t i = 0; i < events.size(); ++i) {
    failed_ |= !marks;
    AddMark(events[i], marks ? (*marks)[i] : TextRange{begin, begin});
  }
  if (marks) floor_ = marks->back().end;
}

// The begin of the marks is not known.
std::optional<std::vector<TextRange>> MarkdownBlock::FindFirstMarks(int begin) {
  const std::vector<bool> before = autolinks_;
  const int first = std::max(floor_, begin - kLongestFirstMarks);
  for (int at = begin; at >= first; --at) {
    autolinks_ = before;
    auto marks = FindMarks(document_, events_, {at, begin}, false, autolinks_);
    if (marks) return marks;
  }
  return std::nullopt;
}

void MarkdownBlock::AddMark(MarkdownEvent event, TextRange mark) {
  ++marks_;
  if (IsBreak(event.kind)) {
    if (picture_) {
      picture_->AddReplaced(" ", mark);
    } else if (!is_hidden()) {
      run_.AddReplaced(event.kind == MarkdownEvent::kSoftBreak ? " " : "\n",
                       mark);
    }
  } else if (event.begins) {
    BeginElement(event.kind, mark);
  } else {
    EndElement(event.kind, mark);
  }
}

void MarkdownBlock::BeginElement(MarkdownEvent::Kind kind, TextRange mark) {
  open_.push_back({kind, mark});
  const bool hides = kind == MarkdownEvent::kCode ||
                     kind == MarkdownEvent::kImage ||
                     (kind == MarkdownEvent::kLink && mark.size() > 0 &&
                      document_[mark.begin] == '<');
  picture_.reset();
  if (kind == MarkdownEvent::kImage && !is_hidden())
    picture_.emplace(escaping_);
  if (hides || hidden_ > 0) {
    ++hidden_;
  } else if (!is_hidden()) {
    run_.AddTag(
        {.kind = Run::Tag::kOpen, .source = mark, .name = NameOf(kind)});
  }
}

void MarkdownBlock::EndElement(MarkdownEvent::Kind kind, TextRange mark) {
  if (open_.empty()) return;
  const Open open = open_.back();
  open_.pop_back();
  if (hidden_ > 0) {
    --hidden_;
    if (is_hidden()) return;
    const TextRange all = {open.mark.begin, mark.end};
    if (kind == MarkdownEvent::kImage) {
      run_.AddTag({.kind = Run::Tag::kEmpty, .source = all});
      EndPicture(mark);
    } else {
      run_.AddObject(all);
    }
    return;
  }
  if (is_hidden()) return;
  Run::Tag tag = {
      .kind = Run::Tag::kClose, .source = mark, .name = NameOf(kind)};
  const absl::string_view end = document_.substr(mark.begin, mark.size());
  if (kind == MarkdownEvent::kLink && (end == "]" || end == "][]")) {
    // The text of the link names its definition, and will be another one.
    const absl::string_view label = document_.substr(
        open.mark.end, std::max(0, mark.begin - open.mark.end));
    tag.written = absl::StrCat(
        "][", absl::StrReplaceAll(label, {{"\n", " "}, {"\r", " "}}), "]");
  }
  run_.AddTag(std::move(tag));
}

// A text that names the definition of its picture stays.
void MarkdownBlock::EndPicture(TextRange end) {
  const absl::string_view mark = document_.substr(end.begin, end.size());
  if (picture_ && mark != "]" && mark != "][]") {
    inner_.push_back(*std::move(picture_));
  }
  picture_.reset();
}

void MarkdownBlock::AddHtml(TextRange source) {
  picture_.reset();
  if (source.begin < html_end_) {  // a line of the tag before
    floor_ = source.end;
    return;
  }
  TakeEvents(source.begin);
  has_begun_ = true;
  floor_ = source.end;
  MarkupLexer lexer(document_, MarkupKind::kHtml, source.begin);
  MarkupToken token;
  if (!lexer.Next(token)) return;
  token.end = std::max(token.end, source.end);
  html_end_ = token.end;
  ++marks_;
  if (hidden_ > 0) return;
  if (!kept_.empty()) {
    if (token.name != kept_) return;
    kept_depth_ += token.kind == MarkupToken::kOpen;
    kept_depth_ -= token.kind == MarkupToken::kClose;
    if (kept_depth_ > 0) return;
    kept_.clear();
    run_.AddObject({kept_begin_, token.end});
    return;
  }
  constexpr uint32_t kKept = html::kUntranslated | html::kNeverTranslated;
  // In a cell of a table, a bar in a value would end the cell.
  if (token.translate != MarkupToken::kNo && escaping_ == Escaping::kMarkdown) {
    for (const AttributeText& text : token.texts) {
      inner_.push_back(Run::OfAttribute(document_, text));
    }
  }
  const bool kept = token.translate == MarkupToken::kNo ||
                    (token.translate == MarkupToken::kInherit &&
                     (token.categories & kKept) != 0);
  if (token.kind == MarkupToken::kOpen && kept) {
    kept_ = token.name;
    kept_begin_ = token.begin;
    kept_depth_ = 1;
  } else if ((token.categories & html::kBlock) != 0) {
    EndRun();
    floor_ = token.end;
  } else {
    run_.AddTag(token);
  }
}

void MarkdownBlock::EndRun() {
  Run run = std::exchange(run_, Run(escaping_));
  std::vector<Run> inner = std::exchange(inner_, {});
  if (!failed_) absl::c_move(inner, std::back_inserter(runs_));
  if (!failed_ && !run.text().empty()) {
    run.MatchTags();
    runs_.push_back(std::move(run));
  }
}

void MarkdownBlock::Finish() {
  if (!events_.empty() && has_begun_) {
    const int end = static_cast<int>(document_.size());
    const auto marks =
        FindMarks(document_, events_, {floor_, end}, true, autolinks_);
    failed_ |= !marks;
    for (size_t i = 0; marks && i < events_.size(); ++i) {
      AddMark(events_[i], (*marks)[i]);
    }
    if (marks) floor_ = marks->back().end;
  }
  if (!kept_.empty())
    run_.AddObject({kept_begin_, std::max(floor_, html_end_)});
  EndRun();
}

}  // namespace attend
