#include "tests/client/fake/fake_answers.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"

namespace attend {
namespace {

void AddLabels(const std::string& text,
               google::protobuf::RepeatedPtrField<v1::LabelScore>& labels) {
  const bool is_long = text.size() > 3;
  for (const bool first : {true, false}) {
    v1::LabelScore& label = *labels.Add();
    label.set_label(is_long == first ? "LONG" : "SHORT");
    label.set_score(first ? 0.75f : 0.25f);
  }
}

}  // namespace

std::string TextOf(const v1::Input& input) {
  if (!input.has_chat()) return input.text();
  return input.chat().messages().rbegin()->content();
}

std::vector<std::string> Words(const std::string& text) {
  return absl::StrSplit(text, ' ', absl::SkipEmpty());
}

v1::Model FakeModel() {
  v1::Model model;
  model.set_name("capitals");
  model.set_family("fake");
  model.set_dtype("f32");
  model.set_ready(true);
  model.set_max_beams(4);
  model.add_tasks(v1::TASK_GENERATE);
  model.add_tasks(v1::TASK_FILL_MASK);
  model.set_mask_token("<mask>");
  model.set_chats(true);
  return model;
}

void AnswerPrompt(const std::string& text, const v1::GenerationParams& params,
                  v1::GenerateResult& result) {
  if (params.echo()) result.mutable_prompt()->set_text(text + " ");
  if (!params.prompt_log_probs()) return;
  for (const std::string& word : Words(text)) {
    const bool first = result.prompt().log_probs().empty();
    v1::TokenLogProb& token =
        *result.mutable_prompt()->add_log_probs()->mutable_token();
    token.set_piece(word);
    if (!first) token.set_log_prob(-2);
  }
}

void MakeAnswer(const std::string& text, const v1::GenerationParams& params,
                v1::GenerateResult& result) {
  AnswerPrompt(text, params, result);
  const std::vector<std::string> words = Words(absl::AsciiStrToUpper(text));
  for (int i = 0; i < std::max(1, params.num_return_sequences()); ++i) {
    v1::Choice& choice = *result.add_choices();
    choice.set_text(absl::StrJoin(words, " "));
    choice.set_score(static_cast<float>(-i));
    choice.set_finish_reason(v1::FINISH_REASON_EOS);
    for (const std::string& word : words) {
      choice.add_ids(static_cast<int>(word.size()));
      if (!params.log_probs()) continue;
      v1::TokenLogProb& token = *choice.add_log_probs()->mutable_token();
      token.set_piece(word);
      token.set_log_prob(-0.5f);
    }
  }
  result.mutable_usage()->set_generated_tokens(static_cast<int>(words.size()));
}

void MakeAnswer(const v1::ScorePair& pair, v1::ScoreResult& result) {
  for (const std::string& word : Words(pair.target().text())) {
    v1::TokenLogProb& token = *result.add_tokens()->mutable_token();
    token.set_piece(word);
    token.set_log_prob(-1);
    result.set_log_prob(result.log_prob() - 1);
  }
}

void AnswerKinds(const v1::EmbedRequest& request, v1::EmbedResult& result) {
  for (const int kind : request.kinds()) {
    if (kind == v1::EMBEDDING_KIND_SPARSE) {
      for (const int id : {7, 9}) result.mutable_sparse()->add_ids(id);
      result.mutable_sparse()->add_weights(1.5f);
      result.mutable_sparse()->add_weights(0.25f);
    } else if (kind == v1::EMBEDDING_KIND_MULTI_VECTOR) {
      v1::MultiVector& vectors = *result.mutable_multi_vector();
      vectors.set_width(2);
      for (const int id : {7, 9}) vectors.add_ids(id);
      for (const float value : {1.f, 2.f, 3.f, 4.f}) vectors.add_values(value);
    }
  }
}

void MakeAnswer(const std::string& text, bool per_token,
                v1::EmbedResult& result) {
  result.mutable_usage()->set_source_tokens(2);
  for (const std::string& word : Words(text)) {
    result.add_values(static_cast<float>(word.size()) + 0.5f);
    if (per_token) result.add_tokens()->set_piece(word);
  }
  result.set_width(per_token ? 1 : result.values_size());
}

void MakeAnswer(const v1::Input& input, v1::ClassifyResult& result) {
  if (!absl::StartsWith(input.text(), "tag")) {
    AddLabels(input.has_pair() ? input.pair() : input.text(),
              *result.mutable_labels());
    return;
  }
  for (const std::string& word : Words(input.text())) {
    v1::TokenLabels& token = *result.add_tokens();
    token.mutable_token()->set_piece(word);
    AddLabels(word, *token.mutable_labels());
  }
}

void MakeAnswer(const std::string& text, v1::FillMaskResult& result) {
  v1::FilledMask& mask = *result.add_masks();
  for (const char* word : {"yes", "no"}) {
    v1::MaskCandidate& candidate = *mask.add_candidates();
    candidate.mutable_token()->set_piece(word);
    candidate.set_text(absl::StrReplaceAll(text, {{"<mask>", word}}));
  }
  result.set_text(mask.candidates(0).text());
}

void MakeAnswer(const std::string& text, v1::Tokenization& result) {
  for (const std::string& word : Words(text)) {
    result.add_ids(static_cast<int>(word.size()));
    result.add_pieces(word);
  }
}

}  // namespace attend
