#include "server/documents/sentence.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <tuple>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "server/documents/character_references.h"
#include "server/documents/literals_text.h"
#include "server/documents/sentence_terms.h"

namespace attend {
namespace {

// Names that models copy, or put into the other language's letters. They stand
// in for what a model cannot read, because it would make other words of it.
constexpr absl::string_view kStandIns[] = {"Tom",   "Maria", "Paris", "Anna",
                                           "David", "Laura", "London"};

// The tags that belong to a sentence: [first, last) of the run's. A tag at an
// end of the sentence belongs to it if it is with a tag that is inside, or has
// to be written in another way.
std::pair<int, int> TagsOf(const Run& run, TextRange range) {
  const std::vector<Run::Tag>& tags = run.tags();
  const auto at = [&](int position) {
    return static_cast<int>(
        std::lower_bound(tags.begin(), tags.end(), position,
                         [](const Run::Tag& tag, int wanted) {
                           return tag.position < wanted;
                         }) -
        tags.begin());
  };
  const auto inside = [&](int i) {
    return i >= 0 && tags[i].position > range.begin &&
           tags[i].position < range.end;
  };
  int first = at(range.begin + 1);
  for (int i = at(range.begin); i < first; ++i) {
    if (inside(tags[i].partner)) first = i;
  }
  int last = at(range.end);
  for (int i = at(range.end + 1) - 1; i >= last; --i) {
    if (inside(tags[i].partner) || !tags[i].written.empty()) last = i + 1;
  }
  return {first, std::max(first, last)};
}

// Copies bytes of a run's text into the text of a sentence.
class SentenceText {
 public:
  explicit SentenceText(const Run& run) : run_(run.text()) {}

  int size() const { return static_cast<int>(text_.size()); }
  std::string Take() { return std::move(text_); }

  void Copy(TextRange range) {
    for (int at = range.begin; at < range.end;) {
      int next = at + 1;
      while (next < range.end && (run_[next] & 0xc0) == 0x80) ++next;
      const TextRange character = Trim(run_, {at, next});
      if (character.size() == 0) {
        AddSpace();
      } else {
        text_.append(run_, at, next - at);
      }
      at = next;
    }
  }
  // Puts a word in, apart from other words.
  void AddWord(absl::string_view word, absl::string_view after) {
    if (IsWordChar(Last(text_))) AddSpace();
    text_.append(word.data(), word.size());
    if (IsWordChar(First(after).c)) AddSpace();
  }
  void AddSpace() {
    if (!text_.empty() && text_.back() != ' ') text_ += ' ';
  }

 private:
  const std::string& run_;
  std::string text_;
};

// A name that is not in the text, and that was not used yet.
absl::string_view StandIn(absl::string_view text, size_t& used) {
  constexpr size_t kCount = std::size(kStandIns);
  for (size_t i = 0; i < kCount; ++i) {
    const absl::string_view name = kStandIns[used++ % kCount];
    if (!absl::StrContains(text, name)) return name;
  }
  return kStandIns[0];
}

bool IsSpaceAt(const std::string& text, int at) {
  return at >= 0 && at < static_cast<int>(text.size()) &&
         absl::ascii_isspace(text[at]);
}

class SentenceMaker {
 public:
  SentenceMaker(absl::string_view document, const Run& run, TextRange range,
                const Glossary& glossary)
      : run_(run),
        range_(range),
        terms_(TermsOf(document, run, range, glossary)),
        text_(run) {
    std::tie(first_tag_, last_tag_) = TagsOf(run, range);
  }

  Sentence Make() {
    sentence_.escaping = run_.escaping();
    sentence_.source = {run_.SourceBegin(range_.begin),
                        run_.SourceEnd(range_.end)};
    int at = range_.begin;
    for (SentenceTerm& term : terms_) {
      AddPart({at, term.range.begin});
      AddTerm(term);
      at = term.range.end;
    }
    AddPart({at, range_.end});
    while (tag_ < last_tag_ - first_tag_) AddTag();
    sentence_.text = text_.Take();
    for (const SentenceTag& tag : sentence_.tags) {
      sentence_.source.begin =
          std::min(sentence_.source.begin, tag.source.begin);
      sentence_.source.end = std::max(sentence_.source.end, tag.source.end);
    }
    return std::move(sentence_);
  }

 private:
  // Bytes of the run's text, and the tags that stand before and in them.
  void AddPart(TextRange part) {
    while (tag_ < last_tag_ - first_tag_) {
      const int position = run_.tags()[first_tag_ + tag_].position;
      if (position > part.end) break;
      // A tag that is inside of a term stands behind the term.
      const int end = std::max(position, part.begin);
      text_.Copy({part.begin, end});
      part.begin = end;
      AddTag();
    }
    text_.Copy(part);
  }

  void AddTerm(SentenceTerm& term) {
    const absl::string_view text =
        absl::string_view(run_.text()).substr(range_.begin, range_.size());
    const int begin = text_.size();
    if (term.fixed.stand_in) {
      text_.AddWord(StandIn(text, stand_ins_),
                    text.substr(term.range.end - range_.begin));
    } else {
      text_.Copy(term.range);
    }
    term.fixed.range = {begin, text_.size()};
    sentence_.terms.push_back(std::move(term.fixed));
  }

  void AddTag() {
    const Run::Tag& from = run_.tags()[first_tag_ + tag_++];
    const std::string& run = run_.text();
    const int partner = from.partner - first_tag_;
    const bool has_partner =
        from.partner >= first_tag_ && from.partner < last_tag_;
    SentenceTag tag = {.position = text_.size(),
                       .partner = has_partner ? partner : -1,
                       .source = from.source,
                       .written = from.written,
                       .spaced = IsSpaceAt(run, from.position - 1) &&
                                 IsSpaceAt(run, from.position)};
    if (from.kind == Run::Tag::kOpen) {
      tag.kind = has_partner ? SentenceTag::kOpen : SentenceTag::kOpenOnly;
    } else if (from.kind == Run::Tag::kClose) {
      tag.kind = has_partner ? SentenceTag::kClose : SentenceTag::kCloseOnly;
    }
    sentence_.tags.push_back(tag);
  }

  const Run& run_;
  const TextRange range_;
  std::vector<SentenceTerm> terms_;
  int first_tag_ = 0;
  int last_tag_ = 0;
  int tag_ = 0;           // of the tags, the next one to add
  size_t stand_ins_ = 0;  // that were tried
  SentenceText text_;
  Sentence sentence_;
};

// The characters of references, and the first reference of each. White space is
// none: a translation has its own.
std::vector<std::pair<std::string, std::string>> ReferencesIn(
    absl::string_view text) {
  std::vector<std::pair<std::string, std::string>> found;
  for (size_t at = text.find('&'); at != text.npos;
       at = text.find('&', at + 1)) {
    const CharacterReference reference =
        ReadReference(text.substr(at), MarkupKind::kHtml);
    const absl::string_view written =
        text.substr(at, static_cast<size_t>(reference.length));
    const std::string& character = reference.character;
    const TextRange all = {0, static_cast<int>(character.size())};
    if (!absl::EndsWith(written, ";") || Trim(character, all).size() == 0 ||
        absl::c_any_of(
            found, [&](const auto& one) { return one.first == character; })) {
      continue;
    }
    found.emplace_back(character, std::string(written));
  }
  return found;
}

}  // namespace

Sentence MakeSentence(absl::string_view document, const Run& run,
                      TextRange range, const Glossary& glossary) {
  Sentence sentence = SentenceMaker(document, run, range, glossary).Make();
  if (sentence.escaping == Escaping::kNone) {
    sentence.references = ReferencesIn(
        document.substr(sentence.source.begin, sentence.source.size()));
  }
  return sentence;
}

}  // namespace attend
