#include "server/documents/sentence_terms.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "server/documents/footnote_marks.h"
#include "server/documents/literals.h"
#include "server/documents/markdown_escapes.h"

namespace attend {
namespace {

// An object as a translation has it. Code in three backticks would be a fence
// where it begins a line, if it had more than one line.
std::string WrittenAs(absl::string_view object, Escaping escaping) {
  return IsMarkdown(escaping) && absl::StartsWith(object, "```")
             ? InOneLine(object)
             : std::string(object);
}

// Joins placeholders that touch, if no tag is between them.
bool Joined(const Run& run, const SentenceTerm& term, SentenceTerm& before) {
  const auto tag = std::lower_bound(
      run.tags().begin(), run.tags().end(), term.range.begin,
      [](const Run::Tag& t, int wanted) { return t.position < wanted; });
  const bool divided =
      tag != run.tags().end() && tag->position == term.range.begin;
  const auto is_placeholder = [](const FixedTerm& fixed) {
    return fixed.stand_in && fixed.source.size() == 0;
  };
  if (divided || !is_placeholder(term.fixed) || !is_placeholder(before.fixed)) {
    return false;
  }
  before.range.end = term.range.end;
  before.fixed.written += term.fixed.written;
  return true;
}

}  // namespace

std::vector<SentenceTerm> TermsOf(absl::string_view document, const Run& run,
                                  TextRange range, const Glossary& glossary) {
  const absl::string_view text =
      absl::string_view(run.text()).substr(range.begin, range.size());
  const auto in_run = [&](TextRange r) {
    return TextRange{range.begin + r.begin, range.begin + r.end};
  };
  std::vector<SentenceTerm> terms;
  auto object = std::lower_bound(
      run.objects().begin(), run.objects().end(), range.begin,
      [](const Run::Object& o, int wanted) { return o.position < wanted; });
  for (; object != run.objects().end() && object->position < range.end;
       ++object) {
    const TextRange source = object->source;
    const int size = static_cast<int>(kObjectCharacter.size());
    terms.push_back(
        {{object->position, object->position + size},
         {.written = WrittenAs(document.substr(source.begin, source.size()),
                               run.escaping()),
          .raw = true,
          .stand_in = true,
          .source = source}});
  }
  // In a text without markup, the bytes of the document are what is written.
  const bool raw = run.escaping() == Escaping::kNone;
  for (const Literal& literal : FindLiterals(text)) {
    const TextRange at = in_run(literal.range);
    const int begin = raw ? run.SourceBegin(at.begin) : at.begin;
    const int end = raw ? run.SourceEnd(at.end) : at.end;
    const absl::string_view of = raw ? document : run.text();
    terms.push_back({at,
                     {.written = std::string(of.substr(begin, end - begin)),
                      .raw = raw,
                      .stand_in = !literal.readable}});
  }
  for (const FootnoteMark& mark : FindFootnoteMarks(text, "")) {
    if (mark.has_words) continue;
    const TextRange at = mark.range;
    const std::string written(text.substr(at.begin, at.size()));
    terms.push_back({in_run(at),
                     {.written = written,
                      .raw = run.escaping() != Escaping::kMarkup &&
                             absl::StartsWith(written, "[^")}});
  }
  for (const Glossary::Match& match : glossary.Find(text)) {
    terms.push_back({in_run(match.range), {.written = *match.target}});
  }
  // The first of several overlapping terms stays. Neighbours become one term,
  // since their stand-ins would read as one name.
  std::stable_sort(terms.begin(), terms.end(),
                   [](const SentenceTerm& a, const SentenceTerm& b) {
                     return a.range.begin < b.range.begin;
                   });
  std::vector<SentenceTerm> apart;
  for (SentenceTerm& term : terms) {
    if (apart.empty() || term.range.begin > apart.back().range.end) {
      apart.push_back(std::move(term));
    } else if (term.range.begin == apart.back().range.end &&
               !Joined(run, term, apart.back())) {
      apart.push_back(std::move(term));
    }
  }
  return apart;
}

}  // namespace attend
