// POST /v1/embeddings.

#include <array>
#include <charconv>
#include <limits>
#include <string>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
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

using EmbeddingField = JsonField<v1::EmbedRequest>;

absl::Status ReadEncoding(const JsonValue& value, v1::EmbedRequest& to) {
  const bool base64 = value.json() == Json("base64");
  RETURN_IF_ERROR(
      value.Expect(base64 || value.json() == Json("float"), "float or base64"));
  to.set_encoding(base64 ? v1::EMBEDDING_FLOAT32 : v1::EMBEDDING_FLOATS);
  return absl::OkStatus();
}

constexpr EmbeddingField kEmbeddingFields[] = {
    ModelField<v1::EmbedRequest,
               [](v1::EmbedRequest& to) { return to.mutable_model(); }>(),
    {"input", kInputsSchema,
     "A text or a list of token ids, or a list of such.",
     [](const JsonValue& value, v1::EmbedRequest& to) {
       return ReadInputs(value, *to.mutable_inputs());
     }},
    {"encoding_format", R"({"enum": ["float", "base64"]})",
     "Vectors as lists of numbers, or as base64 of little-endian f32.",
     ReadEncoding},
    {"dimensions", R"({"type": "integer", "minimum": 1})",
     "Only the first numbers of each vector, so many.",
     [](const JsonValue& value, v1::EmbedRequest& to) {
       ASSIGN_OR_RETURN(const int64_t dimensions, value.Int(1));
       to.set_dimensions(static_cast<int>(dimensions));
       return absl::OkStatus();
     }},
    {"normalize", R"({"type": "boolean"})",
     "Scale each vector to length 1, after cutting it to dimensions. Default: "
     "true, as the vectors of OpenAI's models are. False: as the model "
     "computes "
     "them, even if its files have a module that scales.",
     [](const JsonValue& value, v1::EmbedRequest& to) {
       ASSIGN_OR_RETURN(const bool normalize, value.Bool());
       to.set_normalize(normalize);
       return absl::OkStatus();
     }},
    {"prompt_name", kAnyString,
     "The name of one of the model's prompts, which is put before each text.",
     [](const JsonValue& value, v1::EmbedRequest& to) {
       ASSIGN_OR_RETURN(*to.mutable_prompt_name(), value.String());
       return absl::OkStatus();
     }},
    {"task", kAnyString,
     "The same as prompt_name, as Jina's API has it for models with adapters.",
     [](const JsonValue& value, v1::EmbedRequest& to) {
       ASSIGN_OR_RETURN(const std::string task, value.String());
       RETURN_IF_ERROR(
           value.Expect(!to.has_prompt_name() || to.prompt_name() == task,
                        "the same as prompt_name"));
       to.set_prompt_name(task);
       return absl::OkStatus();
     }},
    {"truncate", R"({"type": "boolean"})",
     "Cut a text that is too long, instead of refusing it.",
     [](const JsonValue& value, v1::EmbedRequest& to) {
       ASSIGN_OR_RETURN(const bool truncate, value.Bool());
       to.set_truncate(truncate);
       return absl::OkStatus();
     }},
    {"user", kAnyString, kAsksForNothing, ReadAnyString<v1::EmbedRequest>},
};

// The shortest numbers that are the same floats. A list of numbers of a JSON
// library would be of doubles, twice as long.
void AppendNumbers(const google::protobuf::RepeatedField<float>& values,
                   std::string& text) {
  text += '[';
  for (int i = 0; i < values.size(); ++i) {
    std::array<char, 32> digits;
    const auto end = std::to_chars(digits.begin(), digits.end(), values[i]);
    if (i > 0) text += ',';
    text.append(digits.begin(), end.ptr);
  }
  text += ']';
}

class EmbeddingTranslator final : public HttpTranslator {
 public:
  absl::StatusOr<HandledRequest> Read(const HttpCallInput& input,
                                      const Service&, CallContext&) override {
    auto request = std::make_unique<v1::EmbedRequest>();
    request->set_normalize(true);
    request->add_kinds(v1::EMBEDDING_KIND_DENSE);
    ASSIGN_OR_RETURN(const Json body,
                     ParseBody(input.body.text, input.content_type));
    RETURN_IF_ERROR(
        ReadFields<v1::EmbedRequest>({body, ""}, kEmbeddingFields, *request));
    if (request->inputs_size() == 0) {
      return FieldError("input", "is absent, must be there");
    }
    return HandledRequest{NewEmbedHandler, std::move(request)};
  }
  FieldNames field_names() const override {
    static constexpr std::pair<absl::string_view, absl::string_view> kNames[] =
        {{"inputs", "input"},
         {"dimensions", "dimensions"},
         {"prompt_name", "prompt_name"}};
    return kNames;
  }

  // Numbers take much longer to compute than to write.
  size_t max_answer_bytes() const override {
    return std::numeric_limits<size_t>::max();
  }
  absl::Status Append(const google::protobuf::Message& answer,
                      std::string& text) override {
    const auto& response = static_cast<const v1::EmbedResponse&>(answer);
    int tokens = 0;
    text += R"({"object":"list","data":[)";
    for (int i = 0; i < response.results_size(); ++i) {
      const v1::EmbedResult& result = response.results(i);
      if (result.status().code() != 0) return FailureOf(result.status());
      tokens += result.usage().source_tokens();
      absl::StrAppend(&text, i == 0 ? "" : ",",
                      R"({"object":"embedding","index":)", i,
                      R"(,"embedding":)");
      if (result.data().empty()) {
        AppendNumbers(result.values(), text);
      } else {
        absl::StrAppend(&text, "\"", absl::Base64Escape(result.data()), "\"");
      }
      text += '}';
    }
    absl::StrAppend(&text, R"(],"model":)", DumpJson(Json(response.model())),
                    R"(,"usage":{"prompt_tokens":)", tokens,
                    R"(,"total_tokens":)", tokens, "}}");
    return absl::OkStatus();
  }
};

}  // namespace

std::unique_ptr<HttpTranslator> NewEmbeddingTranslator() {
  return std::make_unique<EmbeddingTranslator>();
}

std::vector<FieldHelp> EmbeddingFieldList() {
  return Describe<v1::EmbedRequest>(kEmbeddingFields);
}

}  // namespace attend
