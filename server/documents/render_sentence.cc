#include "server/documents/render_sentence.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "server/documents/character_references.h"
#include "server/documents/markdown_escapes.h"
#include "server/documents/place_tags.h"
#include "server/documents/place_terms.h"

namespace attend {
namespace {

// The byte of the document behind a sentence.
char After(const Document& document, const Sentence& sentence) {
  const size_t end = static_cast<size_t>(sentence.source.end);
  return end < document.source.size() ? document.source[end] : ' ';
}

// Appends text of a sentence's translation to what is written of it.
void AppendText(const Document& document, const Sentence& sentence,
                absl::string_view text, char after, std::string& written) {
  const int begin = sentence.source.begin;
  switch (sentence.escaping) {
    case Escaping::kNone:
      absl::StrAppend(&written, absl::StrReplaceAll(text, sentence.references));
      return;
    case Escaping::kMarkup:
      AppendEscaped(text, written);
      return;
    case Escaping::kQuoted:
      AppendEscaped(text, written, "\"");
      return;
    case Escaping::kSingleQuoted:
      AppendEscaped(text, written, "'");
      return;
    case Escaping::kUnquoted:
      AppendEscaped(text, written, "\"'`= \t\r\n\f");
      return;
    case Escaping::kMarkdown:
    case Escaping::kTableCell:
      break;
  }
  const bool first = written.empty();
  const char before = !first      ? written.back()
                      : begin > 0 ? document.source[begin - 1]
                                  : ' ';
  AppendMarkdown(
      text,
      {.before = before,
       .after = after,
       .begins_line = first && BeginsMarkdownLine(document.source, begin),
       .is_cell = sentence.escaping == Escaping::kTableCell},
      written);
}

// Writes the units of a translation and the tags between them.
class SentenceWriter {
 public:
  SentenceWriter(const Document& document, const Sentence& sentence,
                 const TargetUnits& units)
      : document_(document), sentence_(sentence), units_(units) {}

  void Write(const PlacedElement& element) {
    if (element.units.size() == 0 && element.open >= 0) {
      WriteBetween(element);
      return;
    }
    if (element.open >= 0) {
      WriteSpace(element.units.begin);
      WriteTag(element.open);
    }
    WriteInner(element);
    if (element.close >= 0) WriteTag(element.close);
  }
  // All tags, and then all units.
  void WriteApart() {
    for (size_t i = 0; i < sentence_.tags.size(); ++i) {
      WriteTag(static_cast<int>(i));
    }
    WriteUnits(units_.size());
  }
  std::string Take() {
    WriteText(units_.end());
    EndText(After(document_, sentence_));
    return std::move(written_ += late_);
  }

 private:
  void WriteInner(const PlacedElement& element) {
    for (const auto& inner : element.inner) {
      WriteUnits(inner->units.begin);
      Write(*inner);
    }
    WriteUnits(element.units.end);
  }

  // Between two words a tag is where it was: beside the one, or between spaces.
  void WriteBetween(const PlacedElement& element) {
    const SentenceTag& tag = sentence_.tags[element.open];
    const bool behind_space =
        tag.position == 0 || sentence_.text[tag.position - 1] == ' ';
    if (behind_space) WriteSpace(element.units.begin);
    WriteTag(element.open);
    WriteInner(element);
    if (element.close >= 0) WriteTag(element.close);
    if (tag.spaced && element.units.begin < units_.size()) WriteText(" ");
  }

  void WriteUnits(int end) {
    for (; next_ < end; ++next_) {
      WriteSpace(next_);
      const TargetUnits::Unit& unit = units_[next_];
      if (unit.raw) {
        WriteRaw(unit.text);
      } else {
        WriteText(unit.text);
      }
    }
  }
  // The white space before a unit, which is the next one, unless it is there.
  void WriteSpace(int unit) {
    if (unit < spaced_ || unit >= units_.size()) return;
    spaced_ = unit + 1;
    WriteText(units_[unit].before);
  }
  void WriteTag(int tag) {
    const SentenceTag& from = sentence_.tags[tag];
    const TextRange source = from.source;
    WriteRaw(from.written.empty() ? absl::string_view(document_.source)
                                        .substr(source.begin, source.size())
                                  : absl::string_view(from.written));
  }
  void WriteRaw(absl::string_view raw) {
    if (raw.empty()) return;
    EndText(raw.front());
    if (WouldBeginHtml(raw)) {
      late_.append(raw.data(), raw.size());
      return;
    }
    absl::StrAppend(&written_, raw);
  }
  void WriteText(absl::string_view text) { absl::StrAppend(&text_, text); }
  // Escapes the text since the last tag; `after` is what follows it.
  void EndText(char after) {
    absl::string_view text = text_;
    if (!late_.empty()) text = absl::StripLeadingAsciiWhitespace(text);
    AppendText(document_, sentence_, text, after, written_);
    text_.clear();
    if (!written_.empty()) written_ += std::exchange(late_, "");
  }
  // Returns true for what would make a block of HTML of its line.
  bool WouldBeginHtml(absl::string_view raw) const {
    return written_.empty() && IsMarkdown(sentence_.escaping) &&
           BeginsHtmlBlock(raw) &&
           BeginsMarkdownLine(document_.source, sentence_.source.begin);
  }

  const Document& document_;
  const Sentence& sentence_;
  const TargetUnits& units_;
  std::string written_;
  std::string text_;  // to be written next
  std::string late_;  // to be written behind the first text
  int next_ = 0;      // the unit to write next
  int spaced_ = 0;    // units before it have their white space
};

}  // namespace

namespace {

// Writes bytes `range` of the document with the translations of the inner
// sentences in them, if there are any.
void PutInner(const Document& document, const Sentence& sentence,
              absl::Span<const std::string> inner, TextRange range,
              std::string& written) {
  const auto first = std::partition_point(
      sentence.inner.begin(), sentence.inner.end(),
      [&](const Sentence& s) { return s.source.begin < range.begin; });
  const auto is_in = [&](auto i) {
    return i != sentence.inner.end() && i->source.end <= range.end;
  };
  if (!is_in(first)) return;
  written.clear();
  int at = range.begin;
  for (auto i = first; is_in(i); ++i) {
    written.append(document.source, at, i->source.begin - at);
    written += inner[i - sentence.inner.begin()];
    at = i->source.end;
  }
  written.append(document.source, at, range.end - at);
}

}  // namespace

bool NeedsAlignment(const Sentence& sentence) {
  return !sentence.tags.empty() || !sentence.terms.empty();
}

std::string RenderSentence(const Document& document, const Sentence& sentence,
                           const TranslatedText& translated,
                           absl::Span<const std::string> inner) {
  if (!inner.empty()) {
    Sentence whole = sentence;
    for (SentenceTag& tag : whole.tags) {
      PutInner(document, sentence, inner, tag.source, tag.written);
    }
    for (FixedTerm& term : whole.terms) {
      PutInner(document, sentence, inner, term.source, term.written);
    }
    return RenderSentence(document, whole, translated);
  }
  if (!NeedsAlignment(sentence)) {
    std::string written;
    AppendText(document, sentence, translated.text, After(document, sentence),
               written);
    return written;
  }
  TargetUnits units(translated);
  PlaceTerms(sentence, units);
  SentenceWriter writer(document, sentence, units);
  if (const auto placed = PlaceTags(sentence, units)) {
    writer.Write(*placed);
  } else {
    writer.WriteApart();
  }
  return writer.Take();
}

}  // namespace attend
