// POST /score and /v1/score, as vLLM has them.

#include <utility>

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

constexpr char kTexts[] =
    R"({"oneOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]})";

absl::Status ReadTexts(const JsonValue& value, FieldTexts& to) {
  if (!to.texts.empty()) {
    return FieldError(value.name(),
                      absl::StrCat("is there beside ", to.name,
                                   ", of which it is another name"));
  }
  to.name = value.name();
  to.is_list = value.json().is_array();
  ASSIGN_OR_RETURN(to.texts, value.Strings());
  return value.Expect(!to.texts.empty(), "a list that is not empty");
}
absl::Status ReadFirst(const JsonValue& value, TextPairs& to) {
  return ReadTexts(value, to.first);
}
absl::Status ReadSecond(const JsonValue& value, TextPairs& to) {
  return ReadTexts(value, to.second);
}

constexpr JsonField<TextPairs> kScoreFields[] = {
    ModelField<TextPairs, [](TextPairs& to) { return &to.model; }>(),
    {"text_1", kTexts, "The first text of all pairs, or of each.", ReadFirst},
    {"text_2", kTexts, "The second text of each pair.", ReadSecond},
    {"queries", kTexts, "Another name of text_1.", ReadFirst},
    {"documents", kTexts, "Another name of text_2.", ReadSecond},
    {"truncate", R"({"type": "boolean"})",
     "Cut texts that are too long, instead of refusing them.",
     [](const JsonValue& value, TextPairs& to) {
       ASSIGN_OR_RETURN(to.truncate, value.Bool());
       return absl::OkStatus();
     }},
    {"raw_scores", R"({"type": "boolean"})",
     "Return the logits of a model that labels pairs, instead of what it makes "
     "of them.",
     [](const JsonValue& value, TextPairs& to) {
       ASSIGN_OR_RETURN(to.raw_scores, value.Bool());
       return absl::OkStatus();
     }},
    {"user", kAnyString, kAsksForNothing, ReadAnyString<TextPairs>},
};

class ScoreTranslator final : public HttpTranslator {
 public:
  absl::StatusOr<HandledRequest> Read(const HttpCallInput& input,
                                      const Service& service,
                                      CallContext& context) override {
    TextPairs pairs;
    ASSIGN_OR_RETURN(const Json body,
                     ParseBody(input.body.text, input.content_type));
    RETURN_IF_ERROR(ReadFields<TextPairs>({body, ""}, kScoreFields, pairs));
    const size_t first = pairs.first.texts.size();
    const size_t second = pairs.second.texts.size();
    if (first == 0 || second == 0) {
      return FieldError("text_1", "and text_2 must be there");
    }
    if (first != 1 && first != second) {
      return FieldError(
          pairs.first.name,
          absl::StrCat("has ", first, " texts, must have 1 or as many as ",
                       pairs.second.name, ": ", second));
    }
    id_ = context.request_id();
    return similarity_.Request(std::move(pairs), service, context);
  }
  absl::Status Rename(const absl::Status& status) const override {
    return similarity_.Rename(status);
  }
  absl::Status Append(const google::protobuf::Message& answer,
                      std::string& text) override {
    ASSIGN_OR_RETURN(const PairScores scores, similarity_.Scores(answer));
    Json json = AnswerFrame::New("score-", id_, scores.model).ToJson("list");
    json["data"] = Json::array();
    for (const float score : scores.scores) {
      json["data"].push_back({{"index", json["data"].size()},
                              {"object", "score"},
                              {"score", score}});
    }
    json["usage"] = UsageJson(scores.tokens, 0);
    text += DumpJson(json);
    return absl::OkStatus();
  }

 private:
  Similarity similarity_;
  std::string id_;
};

}  // namespace

std::unique_ptr<HttpTranslator> NewScoreTranslator() {
  return std::make_unique<ScoreTranslator>();
}

std::vector<FieldHelp> ScoreFieldList() {
  return Describe<TextPairs>(kScoreFields);
}

}  // namespace attend
