// POST /predict: labels of texts, as text-embeddings-inference has them.

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/tensor/status_macros.h"
#include "server/http_call/http_status.h"
#include "server/http_call/json_fields.h"
#include "server/openai/answer.h"
#include "server/openai/model_field.h"
#include "server/openai/openai_api.h"
#include "server/service/methods.h"

namespace attend {
namespace {

struct PredictFields {
  v1::ClassifyRequest request;
  bool is_list = false;  // of inputs
};

constexpr char kExpected[] =
    "a text, a pair of texts, or a list of lists of those";

// Reads a text, or a list of one text or two.
absl::Status ReadOne(const JsonValue& value, v1::ClassifyRequest& to) {
  ASSIGN_OR_RETURN(std::vector<std::string> texts, value.Strings());
  RETURN_IF_ERROR(
      value.Expect(texts.size() == 1 || texts.size() == 2, kExpected));
  v1::Input& input = *to.add_inputs();
  input.set_text(std::move(texts[0]));
  if (texts.size() == 2) input.set_pair(std::move(texts[1]));
  return absl::OkStatus();
}

absl::Status ReadPredictInputs(const JsonValue& value, PredictFields& to) {
  const Json& json = value.json();
  to.is_list = json.is_array() && !json.empty() && json.front().is_array();
  if (!to.is_list) return ReadOne(value, to.request);
  ASSIGN_OR_RETURN(const std::vector<JsonValue> entries, value.List());
  for (const JsonValue& entry : entries) {
    RETURN_IF_ERROR(ReadOne(entry, to.request));
  }
  return absl::OkStatus();
}

constexpr JsonField<PredictFields> kPredictFields[] = {
    ModelField<PredictFields,
               [](PredictFields& to) { return to.request.mutable_model(); }>(),
    {"inputs",
     R"({"oneOf": [{"type": "string"}, {"type": "array", "items": {"oneOf": )"
     R"([{"type": "string"}, {"type": "array", "items": {"type": "string"}}]}}]})",
     "A text, or a pair of texts as a list; or a list of lists of one text or "
     "two, an input each.",
     ReadPredictInputs},
    {"raw_scores", R"({"type": "boolean"})",
     "Return scores as the model computes them, without softmax or sigmoid.",
     [](const JsonValue& value, PredictFields& to) {
       ASSIGN_OR_RETURN(const bool raw, value.Bool());
       to.request.set_raw_scores(raw);
       return absl::OkStatus();
     }},
    {"truncate", R"({"type": "boolean"})",
     "Cut texts that are too long, instead of refusing them.",
     [](const JsonValue& value, PredictFields& to) {
       ASSIGN_OR_RETURN(const bool truncate, value.Bool());
       to.request.set_truncate(truncate);
       return absl::OkStatus();
     }},
};

class PredictTranslator final : public HttpTranslator {
 public:
  absl::StatusOr<HandledRequest> Read(const HttpCallInput& input,
                                      const Service&, CallContext&) override {
    PredictFields fields;
    ASSIGN_OR_RETURN(const Json body,
                     ParseBody(input.body.text, input.content_type));
    RETURN_IF_ERROR(
        ReadFields<PredictFields>({body, ""}, kPredictFields, fields));
    if (fields.request.inputs_size() == 0) {
      return FieldError("inputs", "is absent, must be there");
    }
    is_list_ = fields.is_list;
    return HandledRequest{
        NewClassifyHandler,
        std::make_unique<v1::ClassifyRequest>(std::move(fields.request))};
  }
  absl::Status Append(const google::protobuf::Message& answer,
                      std::string& text) override {
    const auto& response = static_cast<const v1::ClassifyResponse&>(answer);
    Json all = Json::array();
    for (const v1::ClassifyResult& result : response.results()) {
      if (result.status().code() != 0) return FailureOf(result.status());
      Json labels = Json::array();
      for (const v1::LabelScore& label : result.labels()) {
        labels.push_back({{"label", label.label()}, {"score", label.score()}});
      }
      all.push_back(std::move(labels));
    }
    text += DumpJson(is_list_ ? all : all.front());
    return absl::OkStatus();
  }

 private:
  bool is_list_ = false;
};

}  // namespace

std::unique_ptr<HttpTranslator> NewTeiPredictTranslator() {
  return std::make_unique<PredictTranslator>();
}

std::vector<FieldHelp> TeiPredictFieldList() {
  return Describe<PredictFields>(kPredictFields);
}

}  // namespace attend
