// POST /rerank, /v1/rerank and /v2/rerank: Cohere's API, and Jina's, which is
// like its first version. A request with "texts" is one of text-embeddings-
// inference, and gets its answer.

#include <algorithm>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
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
  TextPairs pairs;  // the query and, after FinishDocuments(), the documents
  Json documents;   // as the client sent them: a list of texts and objects
  std::string documents_name;
  // The members of objects that are ranked, in this order.
  std::vector<std::string> rank_fields = {"text"};
  int64_t top_n = 0;  // 0: all
  bool return_documents = false;
  bool has_texts = false;  // the documents are in "texts"
};

// The text of a document that is ranked: the document itself, or the values of
// `fields` of an object, a line each. Other members of the object are data of
// the client's. nullopt if none of the fields is there.
absl::StatusOr<std::optional<std::string>> RankedText(
    const JsonValue& document, const std::vector<std::string>& fields) {
  const Json& json = document.json();
  if (json.is_string()) return json.get<std::string>();
  std::optional<std::string> text;
  if (!json.is_object()) return text;
  for (const std::string& field : fields) {
    const auto found = json.find(field);
    if (found == json.end() || found->is_null()) continue;
    RETURN_IF_ERROR(JsonValue(*found, absl::StrCat(document.name(), ".", field))
                        .Expect(found->is_primitive(), "a text or a number"));
    const std::string value =
        found->is_string() ? found->get<std::string>() : DumpJson(*found);
    text = text ? absl::StrCat(*text, "\n", value) : value;
  }
  return text;
}

// Takes the texts out of the documents, once all fields have been read.
absl::Status FinishDocuments(RerankFields& fields) {
  FieldTexts& texts = fields.pairs.second;
  texts = {.name = fields.documents_name, .texts = {}, .is_list = true};
  const JsonValue documents(fields.documents, fields.documents_name);
  ASSIGN_OR_RETURN(const std::vector<JsonValue> entries, documents.List());
  RETURN_IF_ERROR(
      documents.Expect(!entries.empty(), "a list that is not empty"));
  for (const JsonValue& entry : entries) {
    ASSIGN_OR_RETURN(std::optional<std::string> text,
                     RankedText(entry, fields.rank_fields));
    RETURN_IF_ERROR(
        entry.Expect(text.has_value(),
                     absl::StrCat("a string, or an object with ",
                                  absl::StrJoin(fields.rank_fields, " or "))));
    texts.texts.push_back(*std::move(text));
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
     "The documents, as texts or as objects with a text. Other members of an "
     "object are returned with it, but not ranked.",
     [](const JsonValue& value, RerankFields& to) {
       to.documents_name = value.name();
       to.documents = value.json();
       return absl::OkStatus();
     }},
    {"texts", R"({"type": "array", "items": {"type": "string"}})",
     "The documents, as text-embeddings-inference names them. The answer is "
     "then a list of index, score and, with return_text, text.",
     [](const JsonValue& value, RerankFields& to) {
       to.documents_name = value.name();
       to.documents = value.json();
       to.has_texts = true;
       return value.Strings().status();
     }},
    {"return_text", R"({"type": "boolean"})", "With texts: return them, too.",
     [](const JsonValue& value, RerankFields& to) {
       ASSIGN_OR_RETURN(to.return_documents, value.Bool());
       return absl::OkStatus();
     }},
    {"rank_fields", R"({"type": "array", "items": {"type": "string"}})",
     "The members of documents that are objects which are ranked, in this "
     "order; default: text.",
     [](const JsonValue& value, RerankFields& to) {
       ASSIGN_OR_RETURN(to.rank_fields, value.Strings());
       return value.Expect(!to.rank_fields.empty(), "a list that is not empty");
     }},
    {"top_n", R"({"type": "integer", "minimum": 0})",
     "Return only this many documents, the best ones; 0: all.",
     [](const JsonValue& value, RerankFields& to) {
       ASSIGN_OR_RETURN(to.top_n, value.Int(0));
       return absl::OkStatus();
     }},
    {"return_documents", R"({"type": "boolean"})",
     "Return the texts of the documents, too.",
     [](const JsonValue& value, RerankFields& to) {
       ASSIGN_OR_RETURN(to.return_documents, value.Bool());
       return absl::OkStatus();
     }},
    {"raw_scores", R"({"type": "boolean"})",
     "Return the logits of a model that labels pairs, instead of what it makes "
     "of them.",
     [](const JsonValue& value, RerankFields& to) {
       ASSIGN_OR_RETURN(to.pairs.raw_scores, value.Bool());
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
    if (no_query || fields.documents.is_null()) {
      return FieldError(no_query ? "query" : "documents",
                        "is absent, must be there");
    }
    RETURN_IF_ERROR(FinishDocuments(fields));
    id_ = context.request_id();
    top_n_ = fields.top_n;
    has_texts_ = fields.has_texts;
    if (fields.return_documents) documents_ = std::move(fields.documents);
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
  int64_t top_n_ = 0;  // 0: all
  bool has_texts_ = false;
  Json documents_;  // null, unless they are to be returned
};

absl::Status RerankTranslator::Append(const google::protobuf::Message& answer,
                                      std::string& text) {
  ASSIGN_OR_RETURN(const PairScores scores, similarity_.Scores(answer));
  std::vector<size_t> order(scores.scores.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return scores.raw[a] > scores.raw[b];
  });
  if (top_n_ > 0 && order.size() > static_cast<size_t>(top_n_)) {
    order.resize(top_n_);
  }
  Json results = Json::array();
  if (has_texts_) {
    for (const size_t index : order) {
      Json result = {{"index", index}, {"score", scores.scores[index]}};
      if (!documents_.is_null()) result["text"] = documents_[index];
      results.push_back(std::move(result));
    }
    text += DumpJson(results);
    return absl::OkStatus();
  }
  for (const size_t index : order) {
    Json result = {{"index", index}, {"relevance_score", scores.scores[index]}};
    if (!documents_.is_null()) {
      Json& document = documents_[index];
      result["document"] =
          document.is_string() ? Json{{"text", document}} : document;
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
