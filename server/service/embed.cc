#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/types/span.h"
#include "engine/tensor/status_macros.h"
#include "server/service/batch_handler.h"
#include "server/service/embed_role.h"
#include "server/service/embedding_values.h"
#include "server/service/methods.h"
#include "server/service/request_fields.h"
#include "server/service/source.h"
#include "server/service/tasks.h"

namespace attend {
namespace {

// The tokens of a prompt before each text, special tokens before it included,
// as sentence-transformers counts them where a prompt is not pooled.
absl::StatusOr<int> CountPrompt(absl::string_view prompt,
                                const ModelInfo& model,
                                const Tokenizer& tokenizer) {
  if (model.pools_prompt || prompt.empty()) return 0;
  ASSIGN_OR_RETURN(const Encoding encoding,
                   tokenizer.Encode({.text = prompt,
                                     .add_special = model.adds_special,
                                     .max_tokens = model.max_text_tokens}));
  const std::vector<int>& ids = encoding.ids;
  const bool ends =
      !ids.empty() && tokenizer.IsSpecial(ids.back(), Side::kSource);
  return static_cast<int>(ids.size()) - (ends ? 1 : 0);
}

absl::Status CheckShape(const v1::EmbedRequest& request,
                        const ModelInfo& model) {
  const int dimensions = request.dimensions();
  if (dimensions < 0 || dimensions > model.embedding_width) {
    return absl::InvalidArgumentError(
        absl::StrFormat("dimensions is %d, must be in [0, %d]", dimensions,
                        model.embedding_width));
  }
  const char* const beside = dimensions > 0             ? "dimensions"
                             : request.has_normalize()  ? "normalize"
                             : !request.kinds().empty() ? "kinds"
                                                        : nullptr;
  if (request.per_token() && beside != nullptr) {
    return absl::InvalidArgumentError(
        absl::StrCat(beside, " is set, must be unset if per_token is true"));
  }
  if (!v1::EmbeddingEncoding_IsValid(request.encoding())) {
    return absl::InvalidArgumentError(
        absl::StrFormat("encoding is %d, must be in [%d, %d]",
                        static_cast<int>(request.encoding()),
                        static_cast<int>(v1::EmbeddingEncoding_MIN),
                        static_cast<int>(v1::EmbeddingEncoding_MAX)));
  }
  return absl::OkStatus();
}

// The task of the engine for the kinds that a request names.
absl::StatusOr<EmbedTask> ReadKinds(const v1::EmbedRequest& request,
                                    const ModelInfo& model) {
  EmbedTask task = {.pooled = false,
                    .per_token = request.per_token(),
                    .dimensions = request.dimensions()};
  if (request.has_normalize()) task.normalize = request.normalize();
  if (task.per_token) return task;
  const std::vector<v1::EmbeddingKind> known = EmbeddingKindsOf(model);
  std::vector<int> kinds(request.kinds().begin(), request.kinds().end());
  if (kinds.empty() && !known.empty()) kinds.push_back(known.front());
  for (size_t i = 0; i < kinds.size(); ++i) {
    if (std::find(known.begin(), known.end(), kinds[i]) == known.end()) {
      return absl::InvalidArgumentError(absl::StrFormat(
          "kinds[%d] is %d, model '%s' has only: %s", i, kinds[i], model.name,
          absl::StrJoin(known, ", ", [](std::string* out, auto kind) {
            absl::StrAppend(out, v1::EmbeddingKind_Name(kind));
          })));
    }
    task.pooled |= kinds[i] == v1::EMBEDDING_KIND_DENSE;
    task.sparse |= kinds[i] == v1::EMBEDDING_KIND_SPARSE;
    task.token_vectors |= kinds[i] == v1::EMBEDDING_KIND_MULTI_VECTOR;
  }
  return task;
}

// Takes the weights but 0: `weights` are of all tokens of the vocabulary.
void SetWeights(absl::Span<const float> weights, v1::SparseVector& to) {
  for (size_t id = 0; id < weights.size(); ++id) {
    if (weights[id] == 0) continue;
    to.add_ids(static_cast<int>(id));
    to.add_weights(weights[id]);
  }
}

// The same for weights of a source's tokens: of several of one id the greatest
// counts.
void SetWeights(absl::Span<const float> weights, absl::Span<const int> ids,
                absl::Span<const int> weightless, v1::SparseVector& to) {
  std::map<int, float> by_id;
  for (size_t i = 0; i < ids.size(); ++i) {
    if (weights[i] == 0 ||
        std::binary_search(weightless.begin(), weightless.end(), ids[i])) {
      continue;
    }
    float& weight = by_id.try_emplace(ids[i], weights[i]).first->second;
    weight = std::max(weight, weights[i]);
  }
  for (const auto& [id, weight] : by_id) {
    to.add_ids(id);
    to.add_weights(weight);
  }
}

// Embed: vectors of texts, or of their tokens.
class EmbedHandler final
    : public BatchHandler<v1::EmbedRequest, v1::EmbedResponse> {
 public:
  using BatchHandler::BatchHandler;

 private:
  absl::StatusOr<int> Prepare(const v1::EmbedRequest& request) override {
    RETURN_IF_ERROR(CheckTask(model().info(), {v1::TASK_EMBED}));
    RETURN_IF_ERROR(service().CheckManyInputs("inputs", request.inputs_size()));
    ASSIGN_OR_RETURN(role_, ReadEmbedRole(request.role()));
    ASSIGN_OR_RETURN(const EmbedRoute route, ChooseRoute(role_, model()));
    route_.emplace(route);
    RETURN_IF_ERROR(CheckShape(request, info()));
    ASSIGN_OR_RETURN(task_, ReadKinds(request, info()));
    task_.route = route.number;
    PromptChoice choice = {.role = role_};
    if (request.has_prompt_text()) choice.text = request.prompt_text();
    if (request.has_prompt_name()) choice.name = request.prompt_name();
    ASSIGN_OR_RETURN(prompt_, ChoosePrompt(choice, info()));
    RETURN_IF_ERROR(CheckTextBytes("prompt_text", prompt_.text.size(),
                                   info().max_source_tokens, tokenizer()));
    ASSIGN_OR_RETURN(prompt_tokens_,
                     CountPrompt(prompt_.text, info(), tokenizer()));
    encoding_ = request.encoding();
    if (!task_.pooled || task_.sparse || task_.token_vectors) {
      sources_.resize(request.inputs_size());
    }
    return request.inputs_size();
  }

  absl::Status Submit(const v1::EmbedRequest& request, int index,
                      InputState& input) override {
    ASSIGN_OR_RETURN(
        Source source,
        ReadSource(request.inputs(index),
                   {.truncate = request.truncate(),
                    .max_text_tokens = task_.token_vectors
                                           ? MaxVectorTokens(role_, info())
                                           : info().max_text_tokens,
                    .needs_token = true,
                    .prompt = prompt_.text,
                    .call = &input.call()},
                   info(), tokenizer(), absl::StrFormat("inputs[%d]", index)));
    if (task_.token_vectors) {
      FillUp(role_, info().token_vectors, source.tokens);
    }
    const InputFacts facts = source.facts();
    EmbedTask task = task_;
    if (request.inputs(index).has_text()) task.prompt_tokens = prompt_tokens_;
    const int64_t values = CountValues(facts.source_tokens);
    if (!sources_.empty()) sources_[index] = source;
    return Enqueue(
        index,
        {.request = {.input = std::move(source.tokens),
                     .task = task,
                     .adapter = prompt_.adapter},
         .facts = facts,
         .limits = {.choices = 0, .values = static_cast<size_t>(values)},
         .priority = request.priority()},
        absl::StrFormat("inputs[%d]", index));
  }

  // The numbers of all kinds of an input of so many tokens.
  int64_t CountValues(int64_t tokens) const {
    if (task_.per_token) return tokens * info().token_width;
    return DenseWidth() + SparseCount(tokens) +
           (task_.token_vectors ? tokens * info().token_vectors.width : 0);
  }
  int DenseWidth() const {
    if (!task_.pooled) return 0;
    return task_.dimensions > 0 ? task_.dimensions : info().embedding_width;
  }
  int64_t SparseCount(int64_t tokens) const {
    if (!task_.sparse) return 0;
    return info().weighs_vocabulary ? info().target_vocab : tokens;
  }

  void Fill(int index, v1::EmbedResult& result) override {
    const absl::Span<const float> values = input(index).output().values;
    if (task_.per_token) return FillTokens(values, sources_[index], result);
    if (task_.pooled) {
      result.set_width(DenseWidth());
      SetValues(values.subspan(0, DenseWidth()), encoding_, result);
    }
    if (sources_.empty()) return;
    const std::vector<int>& ids = sources_[index].tokens.ids;
    const absl::Span<const float> weights =
        values.subspan(DenseWidth(), SparseCount(ids.size()));
    if (task_.sparse && info().weighs_vocabulary) {
      SetWeights(weights, *result.mutable_sparse());
    } else if (task_.sparse) {
      SetWeights(weights, ids, info().weightless_ids, *result.mutable_sparse());
    }
    if (!task_.token_vectors) return;
    FillVectors(values.subspan(DenseWidth() + weights.size()), ids,
                *result.mutable_multi_vector());
  }

  void FillTokens(absl::Span<const float> values, const Source& source,
                  v1::EmbedResult& result) const {
    result.set_width(info().token_width);
    SetValues(values, encoding_, result);
    for (size_t t = 0; t < source.tokens.ids.size(); ++t) {
      FillSourceToken(source, t, tokenizer(), *result.add_tokens());
    }
  }

  // `values`: a vector of each token of `ids`.
  void FillVectors(absl::Span<const float> values, const std::vector<int>& ids,
                   v1::MultiVector& to) const {
    const TokenVectorsInfo& vectors = info().token_vectors;
    std::vector<float> kept;
    kept.reserve(values.size());
    for (const int row : ComparedRows(role_, vectors, ids)) {
      const auto begin = values.begin() + size_t{1} * row * vectors.width;
      kept.insert(kept.end(), begin, begin + vectors.width);
      to.add_ids(ids[row]);
    }
    to.set_width(vectors.width);
    SetValues(kept, encoding_, to);
  }

  // The route's own.
  const ModelInfo& info() const { return route_->info; }
  const Tokenizer& tokenizer() const { return route_->tokenizer; }

  std::optional<EmbedRoute> route_;
  EmbedTask task_;
  EmbedRole role_ = EmbedRole::kText;
  ChosenPrompt prompt_;
  int prompt_tokens_ = 0;  // see EmbedTask
  v1::EmbeddingEncoding encoding_ = v1::EMBEDDING_FLOATS;
  std::vector<Source> sources_;  // unless dense vectors alone are wanted
};

}  // namespace

std::unique_ptr<Handler> NewEmbedHandler(const Service& service,
                                         CallContext& context) {
  return std::make_unique<EmbedHandler>(service, context);
}

}  // namespace attend
