#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"
#include "absl/types/span.h"
#include "engine/tensor/status_macros.h"
#include "server/service/batch_handler.h"
#include "server/service/embed_role.h"
#include "server/service/labels.h"
#include "server/service/max_sim.h"
#include "server/service/methods.h"
#include "server/service/request_fields.h"
#include "server/service/source.h"
#include "server/service/tasks.h"

namespace attend {
namespace {

// Rerank: orders documents by the score that a cross-encoder gives to the pair
// of the query and a document, or by MaxSim of their tokens' vectors. For the
// latter the query is one more input, after the documents.
class RerankHandler final
    : public BatchHandler<v1::RerankRequest, v1::RerankResponse> {
 public:
  using BatchHandler::BatchHandler;

 private:
  absl::StatusOr<int> Prepare(const v1::RerankRequest& request) override {
    RETURN_IF_ERROR(CheckTask(info(), {v1::TASK_RERANK}));
    if (TakesChat()) context().UseSandbox();
    RETURN_IF_ERROR(
        service().CheckManyInputs("documents", request.documents_size()));
    if (!request.truncate()) {
      RETURN_IF_ERROR(CheckTextBytes("query", request.query().size(),
                                     info().max_text_tokens, tokenizer()));
    }
    if (request.top_n() < 0) {
      return absl::InvalidArgumentError(
          absl::StrFormat("top_n is %d, must be 0 or more", request.top_n()));
    }
    compares_ = !LabelsPairs(info());
    if (compares_) {
      rows_.resize(request.documents_size() + 1);
      ASSIGN_OR_RETURN(prompts_[0],
                       ChoosePrompt({.role = EmbedRole::kQuery}, info()));
      ASSIGN_OR_RETURN(prompts_[1],
                       ChoosePrompt({.role = EmbedRole::kDocument}, info()));
    }
    top_n_ = request.top_n() > 0 ? request.top_n() : request.documents_size();
    kind_ = request.raw_scores() || compares_ ? LabelScores::kRaw
                                              : info().pair_scores;
    if (request.return_documents()) {
      documents_.assign(request.documents().begin(), request.documents().end());
    }
    return request.documents_size() + (compares_ ? 1 : 0);
  }

  absl::Status Submit(const v1::RerankRequest& request, int index,
                      InputState& input) override {
    if (compares_) return SubmitText(request, index, input);
    const bool chats = TakesChat();
    // A CrossEncoder cuts every pair at this length. A conversation that is cut
    // would lose the question at its end.
    ASSIGN_OR_RETURN(Source source,
                     ReadSource(PairOf(request, index),
                                {.truncate = request.truncate() && !chats,
                                 .max_text_tokens = info().max_text_tokens,
                                 .needs_token = true,
                                 .takes_pair = true,
                                 .takes_chat = chats,
                                 .chat = model().chat,
                                 .call = &input.call()},
                                info(), tokenizer(),
                                absl::StrFormat("documents[%d]", index)));
    const InputFacts facts = source.facts();
    return Enqueue(index,
                   {.request = {std::move(source.tokens), ClassifyTask{}},
                    .facts = facts,
                    .limits = {.choices = 0, .values = 1},
                    .priority = request.priority()},
                   absl::StrFormat("documents[%d]", index));
  }

  bool TakesChat() const {
    return info().chat_pairs && model().chat != nullptr;
  }

  // The query and a document: a pair of texts, or a conversation.
  v1::Input PairOf(const v1::RerankRequest& request, int index) const {
    v1::Input pair;
    if (!TakesChat()) {
      pair.set_text(request.query());
      pair.set_pair(request.documents(index));
      return pair;
    }
    v1::Chat& chat = *pair.mutable_chat();
    chat.set_no_generation_prompt(true);
    const auto add = [&](const char* role, const std::string& content) {
      v1::ChatMessage& message = *chat.add_messages();
      message.set_role(role);
      message.set_content(content);
    };
    add("query", request.query());
    add("document", request.documents(index));
    return pair;
  }

  // Submits a document, or the query after the last one.
  absl::Status SubmitText(const v1::RerankRequest& request, int index,
                          InputState& input) {
    const bool is_query = index == request.documents_size();
    const EmbedRole role = is_query ? EmbedRole::kQuery : EmbedRole::kDocument;
    const ChosenPrompt& prompt = prompts_[is_query ? 0 : 1];
    v1::Input text;
    text.set_text(is_query ? request.query() : request.documents(index));
    ASSIGN_OR_RETURN(
        Source source,
        ReadSource(
            text,
            {.truncate = request.truncate(),
             .max_text_tokens = MaxVectorTokens(role, info()),
             .needs_token = true,
             .prompt = prompt.text,
             .call = &input.call()},
            info(), tokenizer(),
            is_query ? "query" : absl::StrFormat("documents[%d]", index)));
    const TokenVectorsInfo& vectors = info().token_vectors;
    FillUp(role, vectors, source.tokens);
    const InputFacts facts = source.facts();
    const int64_t values = int64_t{facts.source_tokens} * vectors.width;
    rows_[index] = ComparedRows(role, vectors, source.tokens.ids);
    return Enqueue(
        index,
        {.request = {.input = std::move(source.tokens),
                     .task = EmbedTask{.pooled = false, .token_vectors = true},
                     .adapter = prompt.adapter},
         .facts = facts,
         .limits = {.choices = 0, .values = static_cast<size_t>(values)},
         .priority = request.priority()},
        is_query ? "query" : absl::StrFormat("documents[%d]", index));
  }

  // Documents are compared with the query once all have ended.
  bool keeps_values() const override { return compares_; }

  // Scores the documents, and takes the query out of the results.
  void Compare(Results& results) {
    const int query = results.size() - 1;
    const auto vectors = [&](int i) {
      return ComparedVectors{input(i).output().values, rows_[i]};
    };
    for (int i = 0; i < query; ++i) {
      if (results[query].status().code() != 0) {
        *results[i].mutable_status() = results[query].status();
      }
      if (results[i].status().code() != 0) continue;
      results[i].set_score(
          MaxSim(vectors(query), vectors(i), info().token_vectors.width));
    }
    results.RemoveLast();
  }

  // Until Arrange(), a score is a logit: equal scores may be of different
  // logits.
  void Fill(int index, v1::RerankResult& result) override {
    if (!compares_) result.set_score(input(index).output().values.front());
  }

  // The `top_n_` documents with the highest logits, highest first, then those
  // that failed.
  void Arrange(Results& results) override {
    if (compares_) Compare(results);
    for (int i = 0; i < results.size(); ++i) {
      results[i].set_index(i);
      if (!documents_.empty()) results[i].set_document(documents_[i]);
    }
    const auto begin = results.pointer_begin();
    const auto failed = std::stable_partition(
        begin, results.pointer_end(),
        [](const auto* r) { return r->status().code() == 0; });
    std::stable_sort(begin, failed, [](const auto* a, const auto* b) {
      return a->score() > b->score();
    });
    const int ranked = static_cast<int>(failed - begin);
    for (auto result = begin; result != failed; ++result) {
      float score = (*result)->score();
      ScoreLabels(kind_, absl::MakeSpan(&score, 1));
      (*result)->set_score(score);
    }
    if (ranked > top_n_) results.DeleteSubrange(top_n_, ranked - top_n_);
  }

  bool compares_ = false;    // by MaxSim
  ChosenPrompt prompts_[2];  // of the query and of documents; with compares_
  std::vector<std::vector<int>> rows_;  // of each input; with compares_
  int top_n_ = 0;
  LabelScores kind_ = LabelScores::kRaw;
  std::vector<std::string> documents_;  // if they are to be returned
};

}  // namespace

std::unique_ptr<Handler> NewRerankHandler(const Service& service,
                                          CallContext& context) {
  return std::make_unique<RerankHandler>(service, context);
}

}  // namespace attend
