#include "server/documents/target_units.h"

#include <algorithm>
#include <cstddef>

#include "absl/strings/ascii.h"
#include "absl/strings/string_view.h"

namespace attend {
namespace {

bool IsWordByte(char c) {
  return absl::ascii_isalnum(c) || static_cast<unsigned char>(c) >= 0x80;
}

// Which part of a token's bytes is in a range.
float PartIn(TextRange token, TextRange range) {
  const int common =
      std::min(token.end, range.end) - std::max(token.begin, range.begin);
  return common <= 0 ? 0 : static_cast<float>(common) / token.size();
}

// Sums of `weights`, whose own sum becomes 1.
std::vector<float> ToMade(const std::vector<float>& weights) {
  std::vector<float> made = {0};
  for (const float weight : weights) made.push_back(made.back() + weight);
  const float all = made.back();
  if (all <= 1e-6f) return std::vector<float>(made.size());
  for (float& part : made) part /= all;
  return made;
}

}  // namespace

TargetUnits::TargetUnits(const TranslatedText& from)
    : source_tokens_(from.source_tokens) {
  for (const TextRange& token : source_tokens_) {
    const int before = ends_.empty() ? 0 : ends_.back();
    ends_.push_back(std::max(before, token.end));
  }
  const absl::string_view text = from.text;
  const size_t sources = source_tokens_.size();
  size_t token = 0;  // the first one that may overlap
  int end = 0;
  for (const Word& word : Words(text)) {
    const TextRange range = word.range;
    Unit unit = {.before = std::string(text.substr(end, range.begin - end)),
                 .text = std::string(text.substr(range.begin, range.size())),
                 .mark = word.mark};
    end = range.end;
    std::vector<float> weights(sources);
    const auto& tokens = from.target_tokens;
    while (token < tokens.size() && tokens[token].end <= range.begin) ++token;
    for (size_t t = token; !from.weights.empty() && t < tokens.size() &&
                           tokens[t].begin < range.end;
         ++t) {
      const float part = PartIn(tokens[t], range);
      for (size_t s = 0; s < sources; ++s) {
        if (source_tokens_[s].size() == 0) continue;  // special
        weights[s] += part * from.weights[t * sources + s];
      }
    }
    unit.made = ToMade(weights);
    units_.push_back(std::move(unit));
  }
  end_ = std::string(text.substr(end));
}

float TargetUnits::MadeBefore(int unit, int position) const {
  const size_t token =
      std::upper_bound(ends_.begin(), ends_.end(), position) - ends_.begin();
  const std::vector<float>& made = units_[unit].made;
  if (token == ends_.size()) return made.back();
  return made[token] + (made[token + 1] - made[token]) *
                           PartIn(source_tokens_[token], {0, position});
}

float TargetUnits::Made(int unit, TextRange source) const {
  return MadeBefore(unit, source.end) - MadeBefore(unit, source.begin);
}

TextRange TargetUnits::BestRun(TextRange source, TextRange among) const {
  TextRange best = {among.begin, among.begin};
  float most = 0;
  float sum = 0;
  int begin = among.begin;
  TextRange single = best;
  float most_made = 0;
  for (int i = among.begin; i < among.end; ++i) {
    const float made = Made(i, source);
    if (made > most_made) {
      most_made = made;
      single = {i, i + 1};
    }
    if (sum <= 0) {
      sum = 0;
      begin = i;
    }
    sum += made - 0.5f;
    if (sum > most) {
      most = sum;
      best = {begin, i + 1};
    }
  }
  return best.size() > 0 ? best : single;
}

int TargetUnits::BestPlace(int position, TextRange among) const {
  // The sum of what stands right, relative to the first place.
  float sum = 0;
  float most = 0;
  int best = among.begin;
  for (int i = among.begin; i < among.end; ++i) {
    const float before = MadeBefore(i, position);
    sum += 2 * before - units_[i].made.back();
    if (sum > most) {
      most = sum;
      best = i + 1;
    }
  }
  return best;
}

void TargetUnits::Replace(TextRange units, const FixedTerm& term) {
  Unit unit = {.text = term.written, .raw = term.raw, .fixed = true};
  std::vector<float> weights(source_tokens_.size());
  for (size_t s = 0; s < weights.size(); ++s) {
    if (source_tokens_[s].size() == 0) continue;
    weights[s] = PartIn(source_tokens_[s], term.range);
  }
  unit.made = ToMade(weights);
  const auto first = units_.begin() + units.begin;
  if (units.size() > 0) {
    unit.before = first->before;
    *first = std::move(unit);
    units_.erase(first + 1, units_.begin() + units.end);
    return;
  }
  // Between two words it needs a space on both sides.
  if (units.begin > 0) unit.before = " ";
  if (first != units_.end() && first->before.empty() &&
      IsWordByte(first->text.front())) {
    first->before = " ";
  }
  units_.insert(first, std::move(unit));
}

void TargetUnits::Remove(int unit) { units_.erase(units_.begin() + unit); }

}  // namespace attend
