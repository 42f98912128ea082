#include "server/service/answer_spans.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

#include "absl/strings/ascii.h"

namespace attend {
namespace {

// Probabilities of the tokens of a window: element 0 is of the special token
// that stands for no answer, the others are of the context.
std::vector<float> Probabilities(absl::Span<const float> logits, int column,
                                 int first_row, int rows, bool with_none) {
  std::vector<float> values;
  values.reserve(rows + 1);
  values.push_back(logits[column]);
  for (int r = first_row; r < first_row + rows; ++r) {
    values.push_back(logits[2 * r + column]);
  }
  const auto from = values.begin() + (with_none ? 0 : 1);
  const float most = *std::max_element(from, values.end());
  if (!with_none) values[0] = -INFINITY;
  float sum = 0;
  for (float& value : values) sum += value = std::exp(value - most);
  for (float& value : values) value /= sum;
  return values;
}

}  // namespace

void AnswerSpans::Add(int window, absl::Span<const float> logits) {
  const TextWindows::Window& place = windows_.window(window);
  const int rows = place.end - place.begin;
  const bool with_none = windows_.begins_with_special();
  const auto of = [&](int column) {
    return Probabilities(logits, column, windows_.prefix_tokens(), rows,
                         with_none);
  };
  const std::vector<float> begins = of(0);
  const std::vector<float> ends = of(1);
  none_ = std::min(none_, begins[0] * ends[0]);
  for (const Span& span : BestSpans(place, absl::MakeSpan(begins).subspan(1),
                                    absl::MakeSpan(ends).subspan(1))) {
    Take(place, span);
  }
}

std::vector<AnswerSpans::Span> AnswerSpans::BestSpans(
    const TextWindows::Window& window, absl::Span<const float> begins,
    absl::Span<const float> ends) const {
  // Spans of the same words become one answer, so more are taken.
  const size_t most =
      options_.split_words ? options_.top : options_.top * 2 + 10;
  const auto better = [](const Span& a, const Span& b) {
    return a.score > b.score;
  };
  std::vector<Span> best;  // a heap, the worst first
  best.reserve(most + 1);
  const int rows = static_cast<int>(begins.size());
  for (int b = 0; b < rows; ++b) {
    const int last = std::min(b + options_.max_tokens, rows);
    for (int e = b; e < last; ++e) {
      const float score = begins[b] * ends[e];
      if (score <= 0) continue;
      if (best.size() == most && score <= best.front().score) continue;
      best.push_back({window.begin + b, window.begin + e, score});
      std::push_heap(best.begin(), best.end(), better);
      if (best.size() <= most) continue;
      std::pop_heap(best.begin(), best.end(), better);
      best.pop_back();
    }
  }
  std::sort_heap(best.begin(), best.end(), better);
  return best;
}

void AnswerSpans::Take(const TextWindows::Window& window, const Span& span) {
  int first = span.begin;
  int last = span.end;
  if (!options_.split_words) {
    const auto same_word = [&](int a, int b) {
      const int word = windows_.origin(a).word;
      return word >= 0 && word == windows_.origin(b).word;
    };
    while (first > window.begin && same_word(first, first - 1)) --first;
    while (last + 1 < window.end && same_word(last, last + 1)) ++last;
  }
  const int begin = windows_.origin(first).begin;
  const int end = std::max(windows_.origin(last).end, begin);
  const absl::string_view text = context_.substr(begin, end - begin);
  std::string key = absl::AsciiStrToLower(text);
  const auto known = std::find(keys_.begin(), keys_.end(), key);
  if (known != keys_.end()) {
    v1::TextAnswer& answer = answers_[known - keys_.begin()];
    answer.set_score(answer.score() + span.score);
    return;
  }
  v1::TextAnswer& answer = answers_.emplace_back();
  answer.set_score(span.score);
  answer.set_text(std::string(text));
  answer.set_begin(begin);
  answer.set_end(end);
  keys_.push_back(std::move(key));
}

void AnswerSpans::AddTo(
    google::protobuf::RepeatedPtrField<v1::TextAnswer>* answers) {
  if (options_.allow_none) answers_.emplace_back().set_score(none_);
  std::stable_sort(answers_.begin(), answers_.end(),
                   [](const v1::TextAnswer& a, const v1::TextAnswer& b) {
                     return a.score() > b.score();
                   });
  const size_t count =
      std::min(answers_.size(), static_cast<size_t>(options_.top));
  for (size_t i = 0; i < count; ++i) *answers->Add() = std::move(answers_[i]);
}

}  // namespace attend
