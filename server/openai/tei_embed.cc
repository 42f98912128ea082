// POST /embed, /embed_sparse and /embed_all: the API of text-embeddings-
// inference.

#include <array>
#include <charconv>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "engine/tensor/status_macros.h"
#include "server/http_call/http_status.h"
#include "server/http_call/json_fields.h"
#include "server/openai/answer.h"
#include "server/openai/input_texts.h"
#include "server/openai/model_field.h"
#include "server/openai/neutral_fields.h"
#include "server/openai/openai_api.h"
#include "server/service/methods.h"

namespace attend {
namespace {

using TeiField = JsonField<v1::EmbedRequest>;

constexpr TeiField kModelField =
    ModelField<v1::EmbedRequest,
               [](v1::EmbedRequest& to) { return to.mutable_model(); }>();
constexpr TeiField kInputsField = {
    "inputs", kInputsSchema,
    "A text or a list of token ids, or a list of such.",
    [](const JsonValue& value, v1::EmbedRequest& to) {
      return ReadInputs(value, *to.mutable_inputs());
    }};
constexpr TeiField kTruncateField = {
    "truncate", R"({"type": "boolean"})",
    "Cut a text that is too long, instead of refusing it.",
    [](const JsonValue& value, v1::EmbedRequest& to) {
      ASSIGN_OR_RETURN(const bool truncate, value.Bool());
      to.set_truncate(truncate);
      return absl::OkStatus();
    }};
constexpr TeiField kPromptField = {
    "prompt_name", kAnyString,
    "The name of one of the model's prompts, which is put before each text.",
    [](const JsonValue& value, v1::EmbedRequest& to) {
      ASSIGN_OR_RETURN(*to.mutable_prompt_name(), value.String());
      return absl::OkStatus();
    }};

constexpr TeiField kEmbedFields[] = {
    kModelField,
    kInputsField,
    kTruncateField,
    kPromptField,
    {"normalize", R"({"type": "boolean"})",
     "Scale each vector to length 1; default: true.",
     [](const JsonValue& value, v1::EmbedRequest& to) {
       ASSIGN_OR_RETURN(const bool normalize, value.Bool());
       to.set_normalize(normalize);
       return absl::OkStatus();
     }},
    {"dimensions", R"({"type": "integer", "minimum": 1})",
     "Only the first numbers of each vector, this many.",
     [](const JsonValue& value, v1::EmbedRequest& to) {
       ASSIGN_OR_RETURN(const int64_t dimensions, value.Int(1));
       to.set_dimensions(static_cast<int>(dimensions));
       return absl::OkStatus();
     }},
};
constexpr TeiField kTokenFields[] = {kModelField, kInputsField, kTruncateField,
                                     kPromptField};

// Shortest numbers that are the same floats.
void AppendNumber(float value, std::string& text) {
  std::array<char, 32> digits;
  const auto end = std::to_chars(digits.begin(), digits.end(), value);
  text.append(digits.begin(), end.ptr);
}

void AppendNumbers(absl::Span<const float> values, std::string& text) {
  text += '[';
  for (size_t i = 0; i < values.size(); ++i) {
    if (i > 0) text += ',';
    AppendNumber(values[i], text);
  }
  text += ']';
}

void AppendDense(const v1::EmbedResult& result, std::string& text) {
  AppendNumbers(result.values(), text);
}

void AppendSparse(const v1::EmbedResult& result, std::string& text) {
  const v1::SparseVector& sparse = result.sparse();
  text += '[';
  for (int i = 0; i < sparse.ids_size(); ++i) {
    absl::StrAppend(&text, i == 0 ? "" : ",", R"({"index":)", sparse.ids(i),
                    R"(,"value":)");
    AppendNumber(sparse.weights(i), text);
    text += '}';
  }
  text += ']';
}

void AppendTokens(const v1::EmbedResult& result, std::string& text) {
  const absl::Span<const float> values = result.values();
  text += '[';
  for (int t = 0; t < result.tokens_size(); ++t) {
    if (t > 0) text += ',';
    AppendNumbers(
        values.subspan(size_t{1} * t * result.width(), result.width()), text);
  }
  text += ']';
}

// A route, and what it asks for.
struct TeiRoute {
  absl::Span<const TeiField> fields;
  void (*ask)(v1::EmbedRequest& request);
  void (*append)(const v1::EmbedResult& result, std::string& text);
};

class TeiTranslator final : public HttpTranslator {
 public:
  explicit TeiTranslator(const TeiRoute& route) : route_(route) {}

  absl::StatusOr<HandledRequest> Read(const HttpCallInput& input,
                                      const Service&, CallContext&) override {
    auto request = std::make_unique<v1::EmbedRequest>();
    route_.ask(*request);
    ASSIGN_OR_RETURN(const Json body,
                     ParseBody(input.body.text, input.content_type));
    RETURN_IF_ERROR(
        ReadFields<v1::EmbedRequest>({body, ""}, route_.fields, *request));
    if (request->inputs_size() == 0) {
      return FieldError("inputs", "is absent, must be there");
    }
    return HandledRequest{NewEmbedHandler, std::move(request)};
  }
  // Numbers take much longer to compute than to write.
  size_t max_answer_bytes() const override {
    return std::numeric_limits<size_t>::max();
  }
  absl::Status Append(const google::protobuf::Message& answer,
                      std::string& text) override {
    const auto& response = static_cast<const v1::EmbedResponse&>(answer);
    text += '[';
    for (int i = 0; i < response.results_size(); ++i) {
      const v1::EmbedResult& result = response.results(i);
      if (result.status().code() != 0) return FailureOf(result.status());
      if (i > 0) text += ',';
      route_.append(result, text);
    }
    text += ']';
    return absl::OkStatus();
  }

 private:
  const TeiRoute route_;
};

}  // namespace

std::unique_ptr<HttpTranslator> NewTeiEmbedTranslator() {
  return std::make_unique<TeiTranslator>(
      TeiRoute{kEmbedFields,
               [](v1::EmbedRequest& request) {
                 request.set_normalize(true);
                 request.add_kinds(v1::EMBEDDING_KIND_DENSE);
               },
               AppendDense});
}

std::unique_ptr<HttpTranslator> NewTeiSparseTranslator() {
  return std::make_unique<TeiTranslator>(
      TeiRoute{kTokenFields,
               [](v1::EmbedRequest& request) {
                 request.add_kinds(v1::EMBEDDING_KIND_SPARSE);
               },
               AppendSparse});
}

std::unique_ptr<HttpTranslator> NewTeiTokensTranslator() {
  return std::make_unique<TeiTranslator>(
      TeiRoute{kTokenFields,
               [](v1::EmbedRequest& request) { request.set_per_token(true); },
               AppendTokens});
}

std::vector<FieldHelp> TeiEmbedFieldList() {
  return Describe<v1::EmbedRequest>(kEmbedFields);
}

std::vector<FieldHelp> TeiTokenFieldList() {
  return Describe<v1::EmbedRequest>(kTokenFields);
}

}  // namespace attend
