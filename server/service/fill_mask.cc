#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "engine/tensor/status_macros.h"
#include "server/service/batch_handler.h"
#include "server/service/methods.h"
#include "server/service/source.h"
#include "server/service/tasks.h"

namespace attend {
namespace {

constexpr int kDefaultTop = 5;
constexpr int kMaxTop = 100;

// FillMask: tokens for the masked places of texts.
class FillMaskHandler final
    : public BatchHandler<v1::FillMaskRequest, v1::FillMaskResponse> {
 public:
  using BatchHandler::BatchHandler;

 private:
  // An input, and the indices of its mask tokens.
  struct Masked {
    Source source;
    std::vector<int> rows;
  };

  absl::StatusOr<int> Prepare(const v1::FillMaskRequest& request) override {
    RETURN_IF_ERROR(CheckTask(info(), {v1::TASK_FILL_MASK}));
    RETURN_IF_ERROR(service().CheckManyInputs("inputs", request.inputs_size()));
    if (request.top_k() < 0 || request.top_k() > kMaxTop) {
      return absl::InvalidArgumentError(absl::StrFormat(
          "top_k is %d, must be in [0, %d]", request.top_k(), kMaxTop));
    }
    if (tokenizer().mask_id() < 0) {
      return absl::InvalidArgumentError(absl::StrFormat(
          "model '%s' has a tokenizer without a mask token", info().name));
    }
    top_k_ = std::min(request.top_k() > 0 ? request.top_k() : kDefaultTop,
                      info().target_vocab);
    masked_.resize(request.inputs_size());
    return request.inputs_size();
  }

  absl::Status Submit(const v1::FillMaskRequest& request, int index,
                      InputState& input) override {
    const std::string field = absl::StrCat("inputs[", index, "]");
    Masked& masked = masked_[index];
    const int text_limit = request.truncate() ? info().max_text_tokens : 0;
    ASSIGN_OR_RETURN(masked.source, ReadSource(request.inputs(index),
                                               {.truncate = request.truncate(),
                                                .max_text_tokens = text_limit,
                                                .needs_token = true,
                                                .call = &input.call()},
                                               info(), tokenizer(), field));
    const std::vector<int>& ids = masked.source.tokens.ids;
    const int mask = tokenizer().mask_id();
    for (size_t i = 0; i < ids.size(); ++i) {
      if (ids[i] == mask) masked.rows.push_back(static_cast<int>(i));
    }
    if (masked.rows.empty()) {
      return absl::InvalidArgumentError(
          absl::StrCat(field, " has no mask token, must have at least one: ",
                       tokenizer().Piece(mask, Side::kSource)));
    }
    return Enqueue(
        index,
        {.request = {masked.source.tokens, FillMaskTask{masked.rows, top_k_}},
         .facts = masked.source.facts(),
         .limits = {.choices = static_cast<int>(masked.rows.size()),
                    .tokens = 1,
                    .top_log_probs = top_k_},
         .priority = request.priority()},
        field);
  }

  void Fill(int index, v1::FillMaskResult& result) override {
    const Masked& masked = masked_[index];
    std::vector<int> best = masked.source.tokens.ids;
    for (size_t m = 0; m < masked.rows.size(); ++m) {
      const auto& top = input(index).output().choices[m].top;
      FillOne(masked, masked.rows[m], top, *result.add_masks());
      best[masked.rows[m]] = top.front().id;
    }
    result.set_text(Text(best));
  }

  void FillOne(const Masked& masked, int row,
               const std::vector<TokenLogProb>& top,
               v1::FilledMask& filled) const {
    FillSourceToken(masked.source, row, tokenizer(), *filled.mutable_token());
    std::vector<int> ids = masked.source.tokens.ids;
    for (const TokenLogProb& entry : top) {
      v1::MaskCandidate& candidate = *filled.add_candidates();
      SetLogProb(entry.id, entry.log_prob, tokenizer(),
                 candidate.mutable_token());
      if (masked.rows.size() > 1) continue;
      ids[row] = entry.id;
      candidate.set_text(Text(ids));
    }
  }

  // The text of the tokens, without special ones. Empty if the tokenizer does
  // not know a token: a model may have more tokens than its tokenizer.
  std::string Text(const std::vector<int>& ids) const {
    return tokenizer()
        .Decode(ids, Side::kSource, /*keep_special=*/false)
        .value_or("");
  }

  int top_k_ = 0;
  std::vector<Masked> masked_;
};

}  // namespace

std::unique_ptr<Handler> NewFillMaskHandler(const Service& service,
                                            CallContext& context) {
  return std::make_unique<FillMaskHandler>(service, context);
}

}  // namespace attend
