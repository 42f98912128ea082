#include "server/documents/place_terms.h"

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace attend {
namespace {

// What the model read for a term.
absl::string_view ReadFor(const Sentence& sentence, const FixedTerm& term) {
  const TextRange range = Trim(sentence.text, term.range);
  return absl::string_view(sentence.text).substr(range.begin, range.size());
}

// The number of units from `first` on that are, joined, equal to `text`; 0:
// they are not.
int Spells(const TargetUnits& units, int first, absl::string_view text) {
  for (int i = first; i < units.size() && !units[i].fixed; ++i) {
    const std::string& before = units[i].before;
    if (i > first) {
      if (text.substr(0, before.size()) != before) return 0;
      text.remove_prefix(before.size());
    }
    if (text.substr(0, units[i].text.size()) != units[i].text) return 0;
    text.remove_prefix(units[i].text.size());
    if (text.empty()) return i + 1 - first;
  }
  return 0;
}

// Of the places at which the translation spells `text`, the one that was made
// most from the term; an empty range if there is none.
TextRange FindSpelled(const TargetUnits& units, absl::string_view text,
                      TextRange source) {
  TextRange best;
  float most = -1;
  for (int i = 0; i < units.size(); ++i) {
    const int count = Spells(units, i, text);
    if (count == 0) continue;
    const float made = units.Made(i, source);
    if (made > most) {
      most = made;
      best = {i, i + count};
    }
  }
  return best;
}

// A run without the marks at its ends: models attend from a full stop to any
// word.
TextRange WithoutMarks(const TargetUnits& units, TextRange run) {
  while (run.size() > 0 && units[run.begin].mark) ++run.begin;
  while (run.size() > 0 && units[run.end - 1].mark) --run.end;
  return run;
}

// The word that was made most; an empty range if there is none.
TextRange BestWord(const TargetUnits& units, TextRange source,
                   TextRange among) {
  TextRange best;
  float most = 0;
  for (int i = among.begin; i < among.end; ++i) {
    if (units[i].mark || units.Made(i, source) <= most) continue;
    most = units.Made(i, source);
    best = {i, i + 1};
  }
  return best;
}

// The best run of units that no term has taken.
TextRange FindMade(const TargetUnits& units, TextRange source) {
  TextRange best;
  float most = 0;
  for (int begin = 0; begin < units.size(); ++begin) {
    int end = begin;
    while (end < units.size() && !units[end].fixed) ++end;
    if (end == begin) continue;
    TextRange run = WithoutMarks(units, units.BestRun(source, {begin, end}));
    if (run.size() == 0) run = BestWord(units, source, {begin, end});
    float sum = 0;
    for (int i = run.begin; i < run.end; ++i) sum += units.Made(i, source);
    if (sum > most) {
      most = sum;
      best = run;
    }
    begin = end;
  }
  // Little of many words is no translation of the term.
  constexpr float kLeast = 0.2f;
  return most >= kLeast ? best : TextRange();
}

void PlaceTerm(const Sentence& sentence, const FixedTerm& term,
               TargetUnits& units) {
  TextRange found;
  if (term.stand_in) {
    found = FindSpelled(units, ReadFor(sentence, term), term.range);
  } else {
    found = FindSpelled(units, term.written, term.range);
  }
  if (found.size() == 0) found = FindMade(units, term.range);
  if (found.size() == 0) {
    const int place = units.BestPlace(term.range.begin, {0, units.size()});
    found = {place, place};
  }
  units.Replace(found, term);
}

}  // namespace

void PlaceTerms(const Sentence& sentence, TargetUnits& units) {
  for (const FixedTerm& term : sentence.terms) {
    PlaceTerm(sentence, term, units);
  }
  for (const FixedTerm& term : sentence.terms) {
    if (!term.stand_in) continue;
    for (int i = units.size() - 1; i >= 0; --i) {
      const int count = Spells(units, i, ReadFor(sentence, term));
      for (int n = 0; n < count; ++n) units.Remove(i);
    }
  }
}

}  // namespace attend
