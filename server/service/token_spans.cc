#include "server/service/token_spans.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "absl/strings/match.h"
#include "engine/tensor/check.h"
#include "server/service/labels.h"

namespace attend {
namespace {

// A token of the text, with the probabilities of all labels.
struct LabelledToken {
  std::vector<float> scores;  // [labels]
  int begin = 0;
  int end = 0;
  bool continues_word = false;
};

// A token or a word, with its one label.
struct Entity {
  absl::string_view label;
  float score = 0;
  int begin = 0;
  int end = 0;
};

int Best(absl::Span<const float> scores) {
  return static_cast<int>(std::max_element(scores.begin(), scores.end()) -
                          scores.begin());
}

size_t CountCharacters(absl::string_view text) {
  return std::count_if(text.begin(), text.end(), [](char byte) {
    return (static_cast<unsigned char>(byte) & 0xc0) != 0x80;
  });
}

bool ContinuesWord(const LabelledText& from, size_t token,
                   const Tokenizer& tokenizer) {
  const int id = from.ids[token];
  if (id == tokenizer.unk_id()) return false;
  const auto [number, begin, end, word] = from.origins[token];
  if (tokenizer.marks_subwords()) {
    return CountCharacters(tokenizer.Piece(id, Side::kSource)) !=
           CountCharacters(from.text.substr(begin, end - begin));
  }
  const bool at_end = begin >= static_cast<int>(from.text.size());
  return begin > 0 && from.text[begin - 1] != ' ' &&
         (at_end || from.text[begin] != ' ');
}

std::vector<LabelledToken> TokensOf(const LabelledText& from,
                                    const Tokenizer& tokenizer) {
  const size_t width = from.labels.size();
  std::vector<LabelledToken> tokens;
  tokens.reserve(from.ids.size());
  for (size_t t = 0; t < from.ids.size(); ++t) {
    const TokenOrigin& origin = from.origins[t];
    if (origin.text < 0) continue;
    const auto logits = from.logits.subspan(t * width, width);
    LabelledToken& token = tokens.emplace_back();
    token.scores.assign(logits.begin(), logits.end());
    SoftmaxScores(absl::MakeSpan(token.scores));
    token.begin = origin.begin;
    token.end = origin.end;
    token.continues_word = ContinuesWord(from, t, tokenizer);
  }
  return tokens;
}

Entity Label(const LabelledText& from, absl::Span<const float> scores,
             const LabelledToken& first, const LabelledToken& last) {
  const int best = Best(scores);
  return {from.labels[best], scores[best], first.begin, last.end};
}

// The label of the tokens of one word.
Entity LabelWord(const LabelledText& from, absl::Span<const LabelledToken> word,
                 v1::Aggregation aggregation) {
  const auto highest = [](const LabelledToken& token) {
    return token.scores[Best(token.scores)];
  };
  if (aggregation == v1::AGGREGATION_AVERAGE) {
    std::vector<float> mean(from.labels.size(), 0);
    for (const LabelledToken& token : word) {
      for (size_t i = 0; i < mean.size(); ++i) mean[i] += token.scores[i];
    }
    for (float& score : mean) score /= static_cast<float>(word.size());
    return Label(from, mean, word.front(), word.back());
  }
  const LabelledToken* chosen = &word.front();
  if (aggregation == v1::AGGREGATION_MAX) {
    chosen = &*std::max_element(
        word.begin(), word.end(),
        [&](const auto& a, const auto& b) { return highest(a) < highest(b); });
  }
  return Label(from, chosen->scores, word.front(), word.back());
}

// Tokens, or words where the aggregation is by words.
std::vector<Entity> EntitiesOf(const LabelledText& from,
                               absl::Span<const LabelledToken> tokens,
                               v1::Aggregation aggregation) {
  const bool by_words = aggregation == v1::AGGREGATION_FIRST ||
                        aggregation == v1::AGGREGATION_AVERAGE ||
                        aggregation == v1::AGGREGATION_MAX;
  std::vector<Entity> entities;
  entities.reserve(tokens.size());
  for (size_t begin = 0; begin < tokens.size();) {
    size_t end = begin + 1;
    while (by_words && end < tokens.size() && tokens[end].continues_word) ++end;
    entities.push_back(
        LabelWord(from, tokens.subspan(begin, end - begin), aggregation));
    begin = end;
  }
  return entities;
}

// "B-PER" is a beginning of "PER", and "I-PER" and "PER" continue it.
std::pair<bool, absl::string_view> ReadTag(absl::string_view label) {
  const bool begins = absl::StartsWith(label, "B-");
  const bool prefixed = begins || absl::StartsWith(label, "I-");
  return {begins, prefixed ? label.substr(2) : label};
}

// The label of a span of entities with the same tag.
absl::string_view WithoutPrefix(absl::string_view label) {
  const size_t dash = label.find('-');
  return dash == absl::string_view::npos ? label : label.substr(dash + 1);
}

v1::LabelSpan SpanOf(absl::Span<const Entity> entities, absl::string_view label,
                     absl::string_view text) {
  float sum = 0;
  for (const Entity& entity : entities) sum += entity.score;
  const int begin = entities.front().begin;
  const int end = std::max(entities.back().end, begin);
  v1::LabelSpan span;
  span.set_label(std::string(label));
  span.set_score(sum / static_cast<float>(entities.size()));
  span.set_text(std::string(text.substr(begin, end - begin)));
  span.set_begin(begin);
  span.set_end(end);
  return span;
}

// Returns true if a span of another window takes the place of `span`, which
// began before it or with it.
bool Supersedes(const v1::LabelSpan& other, const v1::LabelSpan& span) {
  const size_t length = CountCharacters(span.text());
  const size_t others = CountCharacters(other.text());
  return others > length || (others == length && other.score() > span.score());
}

}  // namespace

std::vector<v1::LabelSpan> FindSpans(const LabelledText& from,
                                     v1::Aggregation aggregation,
                                     absl::Span<const std::string> ignored,
                                     const Tokenizer& tokenizer) {
  ATTEND_CHECK(from.logits.size() == from.ids.size() * from.labels.size());
  const std::vector<LabelledToken> tokens = TokensOf(from, tokenizer);
  const std::vector<Entity> entities = EntitiesOf(from, tokens, aggregation);
  const bool alone = aggregation == v1::AGGREGATION_NONE;
  std::vector<v1::LabelSpan> spans;
  spans.reserve(entities.size());
  for (size_t begin = 0; begin < entities.size();) {
    const auto tag = ReadTag(entities[begin].label).second;
    size_t end = begin + 1;
    for (; !alone && end < entities.size(); ++end) {
      const auto [begins, next] = ReadTag(entities[end].label);
      if (begins || next != tag) break;
    }
    const absl::string_view label =
        alone ? entities[begin].label : WithoutPrefix(entities[begin].label);
    if (std::find(ignored.begin(), ignored.end(), label) == ignored.end()) {
      spans.push_back(
          SpanOf(absl::MakeSpan(entities).subspan(begin, end - begin), label,
                 from.text));
    }
    begin = end;
  }
  return spans;
}

std::vector<v1::LabelSpan> MergeOverlaps(std::vector<v1::LabelSpan> spans) {
  std::stable_sort(
      spans.begin(), spans.end(),
      [](const auto& a, const auto& b) { return a.begin() < b.begin(); });
  std::vector<v1::LabelSpan> merged;
  merged.reserve(spans.size());
  for (v1::LabelSpan& span : spans) {
    if (merged.empty() || span.begin() >= merged.back().end()) {
      merged.push_back(std::move(span));
    } else if (Supersedes(span, merged.back())) {
      merged.back() = std::move(span);
    }
  }
  return merged;
}

std::vector<std::string> IgnoredLabels(const v1::ClassifyRequest& request) {
  std::vector<std::string> ignored(request.ignore_labels().begin(),
                                   request.ignore_labels().end());
  if (ignored.empty()) return {"O"};
  if (ignored.size() == 1 && ignored.front().empty()) return {};
  return ignored;
}

}  // namespace attend
