// What became of the sentences of a call of Translate.

#include <algorithm>
#include <utility>

#include "absl/time/time.h"
#include "server/service/params.h"
#include "server/service/request_fields.h"
#include "server/service/translate_handler.h"

namespace attend {
namespace {

// The bytes of a sentence that a token stands for, without white space.
TextRange RangeOf(const v1::SourceToken& token, int prefix,
                  const std::string& text) {
  const TextRange range = {std::max(token.begin() - prefix, 0),
                           std::max(token.end() - prefix, 0)};
  return token.special() ? TextRange() : Trim(text, range);
}

}  // namespace

bool TranslateHandler::RenderEnded() {
  if (!TakeEnded(ended_)) return false;
  for (const int i : ended_) {
    Piece& piece = pieces_[i];
    Part& part = parts_[piece.document];
    piece.ended = true;
    ++part.ended;
    if (!input(i).status().ok()) part.status.Update(input(i).status());
  }
  for (const int i : ended_) RenderWhole(i);
  return true;
}

void TranslateHandler::RenderWhole(int index) {
  if (!parts_[pieces_[index].document].status.ok()) return;
  const int outer = index - pieces_[index].inner - 1;
  const int inner = static_cast<int>(sentence(outer).inner.size());
  if (pieces_[outer].rendered) return;
  for (int i = outer; i <= outer + inner; ++i) {
    if (!pieces_[i].ended) return;
  }
  for (int i = outer + inner; i >= outer; --i) {
    Render(i, i == outer ? inner : 0);
    pieces_[i].rendered = true;
    input(i).DropAlignments();
  }
}

void TranslateHandler::Render(int index, int inner) {
  const Sentence& from = sentence(index);
  const bool aligned = NeedsAlignment(from);
  for (const ChoiceOutput& choice : input(index).output().choices) {
    TranslatedText translated;
    ChoiceText text = call_.NewText(index);
    for (const int id : choice.tokens) {
      const int begin = static_cast<int>(translated.text.size());
      translated.text += text.Append(id);
      translated.target_tokens.push_back(
          {begin, static_cast<int>(translated.text.size())});
    }
    translated.text += text.Flush();
    if (aligned) {
      const int prefix = static_cast<int>(languages_.prefix.size());
      for (const v1::SourceToken& token : call_.alignments().source(index)) {
        translated.source_tokens.push_back(RangeOf(token, prefix, from.text));
      }
      translated.weights = choice.alignment;
    }
    std::vector<std::string> inside;
    const size_t number = pieces_[index].texts.size();
    for (int i = index + 1; i <= index + inner; ++i) {
      const std::vector<std::string>& texts = pieces_[i].texts;
      inside.push_back(texts.empty()
                           ? std::string()
                           : texts[std::min(number, texts.size() - 1)]);
    }
    pieces_[index].texts.push_back(RenderSentence(
        parts_[pieces_[index].document].document, from, translated, inside));
  }
  if (!is_inner(index)) FillAnswer(index);
}

absl::Status TranslateHandler::CommonError() const {
  const absl::Status& first = parts_.front().status;
  for (const Part& part : parts_) {
    if (part.status.code() != first.code()) return absl::OkStatus();
  }
  return first;
}

void TranslateHandler::FillAnswer(int index) {
  const Sentence& from = sentence(index);
  v1::TranslatedSentence& to = pieces_[index].answer;
  to.set_source_begin(from.source.begin);
  to.set_source_end(from.source.end);
  to.set_text(from.text);
  const std::vector<ChoiceOutput>& choices = input(index).output().choices;
  if (!choices.empty()) {
    call_.FillChoice(index, choices.front(), *to.mutable_choice());
  }
  const auto& texts = pieces_[index].texts;
  for (size_t i = 1; i < texts.size(); ++i) to.add_alternatives(texts[i]);
  if (wanted_ == v1::ALIGNMENTS_NONE) {
    to.mutable_choice()->clear_alignment();
  } else {
    call_.alignments().FillSource(index, to.mutable_source_tokens());
  }
}

v1::Usage TranslateHandler::UsageOf(const Part& part) const {
  v1::Usage usage;
  for (int i = part.first; i < part.first + part.count; ++i) {
    const v1::Usage one = MakeUsage(input(i).facts(), input(i).output());
    usage.set_source_tokens(usage.source_tokens() + one.source_tokens());
    usage.set_generated_tokens(usage.generated_tokens() +
                               one.generated_tokens());
    usage.set_seed(one.seed());
  }
  return usage;
}

v1::Timings TranslateHandler::TimingsOf(const Part& part) const {
  RequestTimes all;
  const auto earlier = [](absl::Time a, absl::Time& b) {
    if (a == absl::InfinitePast()) return;
    b = b == absl::InfinitePast() ? a : std::min(a, b);
  };
  for (int i = part.first; i < part.first + part.count; ++i) {
    const RequestTimes& one = input(i).times();
    earlier(one.started, all.started);
    earlier(one.encoded, all.encoded);
    earlier(one.first_token, all.first_token);
    all.ended = std::max(all.ended, one.ended);
  }
  return MakeTimings(all, context().arrival());
}

}  // namespace attend
