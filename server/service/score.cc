#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "engine/api/generation_limits.h"
#include "engine/tensor/status_macros.h"
#include "server/service/alignment.h"
#include "server/service/batch_handler.h"
#include "server/service/methods.h"
#include "server/service/request_fields.h"
#include "server/service/source.h"
#include "server/service/tasks.h"
#include "server/service/translation_languages.h"

namespace attend {
namespace {

// Score: log-probabilities of targets that the request gives.
class ScoreHandler final
    : public BatchHandler<v1::ScoreRequest, v1::ScoreResponse> {
 public:
  using BatchHandler::BatchHandler;

 private:
  absl::StatusOr<int> Prepare(const v1::ScoreRequest& request) override {
    RETURN_IF_ERROR(CheckTask(info(), {v1::TASK_GENERATE}));
    RETURN_IF_ERROR(service().CheckCount("pairs", request.pairs_size()));
    RETURN_IF_ERROR(CheckTopLogProbs(request.top_log_probs()));
    RETURN_IF_ERROR(alignments_.Prepare(request.alignments(),
                                        request.pairs_size(), info()));
    RETURN_IF_ERROR(ReadLanguages(request));
    top_log_probs_ = request.top_log_probs();
    for (const v1::ScorePair& pair : request.pairs()) {
      if (pair.source().has_chat()) context().UseSandbox();
    }
    return request.pairs_size();
  }

  absl::Status ReadLanguages(const v1::ScoreRequest& request) {
    ASSIGN_OR_RETURN(languages_, attend::ReadLanguages(
                                     request.source_language(),
                                     request.target_language(), tokenizer()));
    if (languages_.target.empty() ||
        !IsLanguageToken(info().generation.decoder_start_id, tokenizer())) {
      return absl::OkStatus();
    }
    ASSIGN_OR_RETURN(decoder_start_id_,
                     tokenizer().LanguageId(languages_.target));
    return absl::OkStatus();
  }

  absl::Status Submit(const v1::ScoreRequest& request, int index,
                      InputState& input) override {
    const v1::ScorePair& pair = request.pairs(index);
    const std::string field = absl::StrCat("pairs[", index, "]");
    ASSIGN_OR_RETURN(
        Source source,
        ReadSource(pair.source(),
                   {.truncate = request.truncate(),
                    .needs_token = true,
                    .takes_chat = true,
                    .chat = model().chat,
                    .language = languages_.source,
                    .language_mark = languages_.prefix,
                    .call = &input.call()},
                   info(), tokenizer(), absl::StrCat(field, ".source")));
    ASSIGN_OR_RETURN(std::vector<int> target,
                     ReadTarget(pair.target(), languages_.target, info(),
                                tokenizer(), absl::StrCat(field, ".target")));
    // The decoder has one row for its start token, and one for each token of
    // the target but the last.
    const int limit = info().max_target_tokens;
    const int size = static_cast<int>(target.size());
    if (size < 1 || size > limit) {
      return absl::InvalidArgumentError(
          absl::StrFormat("%s.target has %d tokens, must be 1 to %d "
                          "(max_target_tokens)",
                          field, size, limit));
    }
    alignments_.Read(index, source, tokenizer());
    const InputFacts facts = source.facts();
    input.Submit({InputOf(info(), std::move(source.tokens)),
                  ScoreTask{.target = std::move(target),
                            .top_log_probs = top_log_probs_,
                            .alignments = alignments_.wanted(),
                            .decoder_start_id = decoder_start_id_}},
                 facts,
                 {.choices = 1,
                  .tokens = size,
                  .log_probs = true,
                  .top_log_probs = top_log_probs_},
                 request.priority());
    return absl::OkStatus();
  }

  void Fill(int index, v1::ScoreResult& result) override {
    const SequenceOutput& output = input(index).output();
    if (output.choices.empty()) return;
    const ChoiceOutput& choice = output.choices.front();
    AddLogProbs(choice, 0, top_log_probs_, tokenizer(),
                result.mutable_tokens());
    double sum = 0;
    for (float log_prob : choice.log_probs) sum += log_prob;
    result.set_log_prob(sum);
    if (!alignments_.wanted()) return;
    alignments_.Fill(index, choice, *result.mutable_alignment());
    alignments_.FillSource(index, result.mutable_source_tokens());
  }

  int top_log_probs_ = 0;
  TranslationLanguages languages_;
  // Of a decoder that starts with the token of a language: the target's.
  std::optional<int> decoder_start_id_;
  SourceAlignments alignments_;
};

}  // namespace

std::unique_ptr<Handler> NewScoreHandler(const Service& service,
                                         CallContext& context) {
  return std::make_unique<ScoreHandler>(service, context);
}

}  // namespace attend
