// POST /rerank, /v1/rerank and /v2/rerank: Cohere's API, and Jina's, which is
// like its first version.

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "engine/tensor/status_macros.h"
#include "server/http_call/http_status.h"
#include "server/http_call/json_fields.h"
#include "server/openai/answer.h"
#include "server/openai/model_field.h"
#include "server/openai/neutral_fields.h"
#include "server/openai/openai_api.h"
#include "server/openai/similarity.h"

namespace attend {
namespace {

struct RerankFields {
  TextPairs pairs;  // the query and the documents
  std::optional<int64_t> top_n;
  bool return_documents = false;
};

// A text, or an object with a text.
absl::Status ReadDocuments(const JsonValue& value, RerankFields& to) {
  ASSIGN_OR_RETURN(const std::vector<JsonValue> entries, value.List());
  RETURN_IF_ERROR(value.Expect(!entries.empty(), "a list that is not empty"));
  to.pairs.second = {.name = value.name(), .texts = {}, .is_list = true};
  for (const JsonValue& entry : entries) {
    const Json& json = entry.json();
    const bool object = json.is_object() && json.size() == 1 &&
                        json.contains("text") && json["text"].is_string();
    RETURN_IF_ERROR(entry.Expect(json.is_string() || object,
                                 "a string, or an object with a text"));
    to.pairs.second.texts.push_back(
        (object ? json["text"] : json).get_ref<const std::string&>());
  }
  return absl::OkStatus();
}

constexpr JsonField<RerankFields> kRerankFields[] = {
    ModelField<RerankFields,
               [](RerankFields& to) { return &to.pairs.model; }>(),
    {"query", kAnyString, "What the documents should answer.",
     [](const JsonValue& value, RerankFields& to) {
       to.pairs.first.name = value.name();
       ASSIGN_OR_RETURN(to.pairs.first.texts.emplace_back(), value.String());
       return absl::OkStatus();
     }},
    {"documents",
     R"({"type": "array", "items": {"oneOf": [{"type": "string"}, {"type": "object", "properties": {"text": {"type": "string"}}}]}})",
     "The documents, as texts or as objects with a text.", ReadDocuments},
    {"top_n", R"({"type": "integer", "minimum": 1})",
     "Only the best documents, so many.",
     [](const JsonValue& value, RerankFields& to) {
       ASSIGN_OR_RETURN(to.top_n, value.Int(1));
       return absl::OkStatus();
     }},
    {"return_documents", R"({"type": "boolean"})",
     "Return the texts of the documents, too.",
     [](const JsonValue& value, RerankFields& to) {
       ASSIGN_OR_RETURN(to.return_documents, value.Bool());
       return absl::OkStatus();
     }},
    {"truncate", R"({"type": "boolean"})",
     "Cut pairs that are too long, instead of refusing them.",
     [](const JsonValue& value, RerankFields& to) {
       ASSIGN_OR_RETURN(to.pairs.truncate, value.Bool());
       return absl::OkStatus();
     }},
};

class RerankTranslator final : public HttpTranslator {
 public:
  absl::StatusOr<HandledRequest> Read(const HttpCallInput& input,
                                      const Service& service,
                                      CallContext& context) override {
    RerankFields fields;
    ASSIGN_OR_RETURN(const Json body,
                     ParseBody(input.body.text, input.content_type));
    RETURN_IF_ERROR(
        ReadFields<RerankFields>({body, ""}, kRerankFields, fields));
    const bool no_query = fields.pairs.first.texts.empty();
    if (no_query || fields.pairs.second.texts.empty()) {
      return FieldError(no_query ? "query" : "documents",
                        "is absent, must be there");
    }
    id_ = context.request_id();
    top_n_ = fields.top_n;
    if (fields.return_documents) documents_ = fields.pairs.second.texts;
    return similarity_.Request(std::move(fields.pairs), service, context);
  }
  absl::Status Rename(const absl::Status& status) const override {
    return similarity_.Rename(status);
  }
  absl::Status Append(const google::protobuf::Message& answer,
                      std::string& text) override;

 private:
  Similarity similarity_;
  std::string id_;
  std::optional<int64_t> top_n_;
  std::vector<std::string> documents_;  // if they are to be returned
};

absl::Status RerankTranslator::Append(const google::protobuf::Message& answer,
                                      std::string& text) {
  ASSIGN_OR_RETURN(const PairScores scores, similarity_.Scores(answer));
  std::vector<size_t> order(scores.scores.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return scores.scores[a] > scores.scores[b];
  });
  if (top_n_ && order.size() > static_cast<size_t>(*top_n_)) {
    order.resize(*top_n_);
  }
  Json results = Json::array();
  for (const size_t index : order) {
    Json result = {{"index", index}, {"relevance_score", scores.scores[index]}};
    if (!documents_.empty()) {
      result["document"] = Json{{"text", documents_[index]}};
    }
    results.push_back(std::move(result));
  }
  // Cohere's members, and Jina's.
  text += DumpJson(Json{
      {"id", id_},
      {"model", scores.model},
      {"results", std::move(results)},
      {"meta", {{"billed_units", {{"search_units", 1}}}}},
      {"usage",
       {{"prompt_tokens", scores.tokens}, {"total_tokens", scores.tokens}}}});
  return absl::OkStatus();
}

}  // namespace

std::unique_ptr<HttpTranslator> NewRerankTranslator() {
  return std::make_unique<RerankTranslator>();
}

std::vector<FieldHelp> RerankFieldList() {
  return Describe<RerankFields>(kRerankFields);
}

}  // namespace attend
