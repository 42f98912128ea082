#include "server/service/describe_model.h"

#include <string>
#include <vector>

#include "engine/json/utf8.h"
#include "server/service/params.h"
#include "server/service/tasks.h"

namespace attend {
namespace {

v1::LabelScores ToProto(LabelScores kind) {
  switch (kind) {
    case LabelScores::kSoftmax:
      return v1::LABEL_SCORES_SOFTMAX;
    case LabelScores::kSigmoid:
      return v1::LABEL_SCORES_SIGMOID;
    case LabelScores::kRaw:
      return v1::LABEL_SCORES_RAW;
  }
  return v1::LABEL_SCORES_UNSPECIFIED;
}

// Fills what encoders have: widths, labels, the mask token, prompts.
void DescribeEncoder(const ServedModel& served, v1::Model& model) {
  const ModelInfo& info = served.info();
  model.set_embedding_width(info.embedding_width);
  model.set_token_width(info.token_width);
  for (const v1::EmbeddingKind kind : EmbeddingKindsOf(info)) {
    model.add_embedding_kinds(kind);
  }
  model.set_multi_vector_width(info.token_vectors.width);
  model.set_max_text_tokens(info.max_text_tokens);
  model.mutable_labels()->Add(info.labels.begin(), info.labels.end());
  if (info.classifies) model.set_label_scores(ToProto(info.label_scores));
  if (const int mask = served.tokenizer.mask_id();
      info.fills_masks && mask >= 0) {
    model.set_mask_token(
        std::string(served.tokenizer.Piece(mask, Side::kSource)));
  }
  model.mutable_prompts()->insert(info.prompts.begin(), info.prompts.end());
  model.set_default_prompt_name(info.default_prompt);
}

}  // namespace

v1::Model DescribeModel(const ModelEntry& entry) {
  v1::Model model;
  model.set_name(entry.name);
  model.set_version(entry.version);
  model.set_ready(entry.served.ok());
  if (!entry.served.ok()) {
    model.set_error(ReplaceInvalidUtf8(entry.served.status().message()));
    return model;
  }
  const ModelInfo& info = entry.served->info();
  model.set_family(info.family);
  model.set_dtype(info.dtype);
  model.set_source_vocab(info.source_vocab);
  model.set_target_vocab(info.target_vocab);
  model.set_max_source_tokens(info.max_source_tokens);
  model.set_max_target_tokens(info.max_target_tokens);
  model.set_max_beams(info.max_beams);
  if (info.generates) {
    *model.mutable_defaults() = DescribeParams(info.generation);
    const std::vector<int>& ends = info.generation.eos_ids;
    model.mutable_eos_ids()->Add(ends.begin(), ends.end());
  }
  if (const int bos = entry.served->tokenizer.bos_id(); bos >= 0) {
    model.set_bos_id(bos);
  }
  const Tokenizer& tokenizer = entry.served->tokenizer;
  for (const std::string& code : tokenizer.languages(Side::kSource)) {
    model.add_source_languages(code);
  }
  for (const std::string& code : tokenizer.languages(Side::kTarget)) {
    model.add_target_languages(code);
  }
  model.set_continues_source(info.continues_source);
  const ChatTemplate* const chat = entry.served->chat;
  model.set_chats(chat != nullptr && chat->refusal().ok());
  for (const v1::Task task : TasksOf(info)) model.add_tasks(task);
  DescribeEncoder(*entry.served, model);
  return model;
}

}  // namespace attend
