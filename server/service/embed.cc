#include <bit>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/types/span.h"
#include "engine/tensor/status_macros.h"
#include "server/service/batch_handler.h"
#include "server/service/methods.h"
#include "server/service/request_fields.h"
#include "server/service/source.h"
#include "server/service/tasks.h"

namespace attend {
namespace {

static_assert(std::endian::native == std::endian::little);

// Limits the vectors of tokens of one call, which are held until the answer:
// 256 MiB of floats.
constexpr int64_t kMaxValues = (int64_t{256} << 20) / sizeof(float);

// The upper half of the bits, rounded to nearest, ties to even. Infinity and
// NaN stay what they are.
uint16_t ToBfloat16(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  if ((bits & 0x7f800000) == 0x7f800000) {
    const bool is_nan = (bits & 0x007fffff) != 0;
    return static_cast<uint16_t>(bits >> 16 | (is_nan ? 0x40 : 0));
  }
  return static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

void SetValues(absl::Span<const float> values, v1::EmbeddingEncoding encoding,
               v1::EmbedResult& result) {
  std::string& data = *result.mutable_data();
  switch (encoding) {
    case v1::EMBEDDING_FLOAT32:
      data.assign(reinterpret_cast<const char*>(values.data()),
                  values.size() * sizeof(float));
      return;
    case v1::EMBEDDING_BFLOAT16:
      data.resize(values.size() * sizeof(uint16_t));
      for (size_t i = 0; i < values.size(); ++i) {
        const uint16_t bits = ToBfloat16(values[i]);
        std::memcpy(&data[i * sizeof(bits)], &bits, sizeof(bits));
      }
      return;
    default:
      result.mutable_values()->Add(values.begin(), values.end());
  }
}

// The text to put before each input: that of the request, else the model's of
// that name, else the model's default.
absl::StatusOr<std::string> ReadPrompt(const v1::EmbedRequest& request,
                                       const ModelInfo& model) {
  if (request.has_prompt_text()) return request.prompt_text();
  const std::string& name =
      request.has_prompt_name() ? request.prompt_name() : model.default_prompt;
  if (name.empty() && !request.has_prompt_name()) return "";
  const auto found = model.prompts.find(name);
  if (found != model.prompts.end()) return found->second;
  std::string names;
  for (const auto& [known, text] : model.prompts) {
    absl::StrAppend(&names, names.empty() ? "" : ", ", "'", known, "'");
  }
  return absl::InvalidArgumentError(
      absl::StrFormat("prompt_name is '%s', the prompts of model '%s' are: %s",
                      absl::CHexEscape(name.substr(0, 100)), model.name,
                      names.empty() ? "none" : names));
}

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
  if (request.per_token() && (dimensions > 0 || request.has_normalize())) {
    return absl::InvalidArgumentError(
        absl::StrCat(dimensions > 0 ? "dimensions" : "normalize",
                     " is set, must be unset if per_token is true"));
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

// Embed: vectors of texts, or of their tokens.
class EmbedHandler final
    : public BatchHandler<v1::EmbedRequest, v1::EmbedResponse> {
 public:
  using BatchHandler::BatchHandler;

 private:
  absl::StatusOr<int> Prepare(const v1::EmbedRequest& request) override {
    RETURN_IF_ERROR(CheckTask(info(), {v1::TASK_EMBED}));
    RETURN_IF_ERROR(service().CheckCount("inputs", request.inputs_size()));
    RETURN_IF_ERROR(CheckShape(request, info()));
    ASSIGN_OR_RETURN(prompt_, ReadPrompt(request, info()));
    RETURN_IF_ERROR(CheckTextBytes("prompt_text", prompt_.size(),
                                   info().max_source_tokens, tokenizer()));
    ASSIGN_OR_RETURN(prompt_tokens_, CountPrompt(prompt_, info(), tokenizer()));
    encoding_ = request.encoding();
    if (request.per_token()) sources_.resize(request.inputs_size());
    return request.inputs_size();
  }

  absl::Status Submit(const v1::EmbedRequest& request, int index,
                      InputState& input) override {
    ASSIGN_OR_RETURN(
        Source source,
        ReadSource(request.inputs(index),
                   {.truncate = request.truncate(),
                    .max_text_tokens = info().max_text_tokens,
                    .needs_token = true,
                    .prompt = prompt_,
                    .call = &input.call()},
                   info(), tokenizer(), absl::StrFormat("inputs[%d]", index)));
    const InputFacts facts = source.facts();
    EmbedTask task = {.per_token = request.per_token(),
                      .dimensions = request.dimensions()};
    if (request.inputs(index).has_text()) task.prompt_tokens = prompt_tokens_;
    if (request.has_normalize()) task.normalize = request.normalize();
    int64_t values =
        task.dimensions > 0 ? task.dimensions : info().embedding_width;
    if (task.per_token) {
      values = int64_t{facts.source_tokens} * info().token_width;
      RETURN_IF_ERROR(TakeRoom(values, index));
      sources_[index] = source;
    }
    input.Submit({std::move(source.tokens), task}, facts,
                 {.choices = 0, .values = static_cast<size_t>(values)},
                 request.priority());
    return absl::OkStatus();
  }

  // Counts the numbers of one more input. INVALID_ARGUMENT if all inputs so far
  // have more than kMaxValues.
  absl::Status TakeRoom(int64_t values, int index) {
    if (values_ + values > kMaxValues) {
      return absl::InvalidArgumentError(
          absl::StrFormat("inputs[%d]: the vectors of the tokens up to this "
                          "input have %d numbers, limit of a call is %d",
                          index, values_ + values, kMaxValues));
    }
    values_ += values;
    return absl::OkStatus();
  }

  void Fill(int index, v1::EmbedResult& result) override {
    const SequenceOutput& output = input(index).output();
    result.set_width(output.width);
    SetValues(output.values, encoding_, result);
    if (sources_.empty()) return;
    const Source& source = sources_[index];
    for (size_t t = 0; t < source.tokens.ids.size(); ++t) {
      FillSourceToken(source, t, tokenizer(), *result.add_tokens());
    }
  }

  std::string prompt_;
  int prompt_tokens_ = 0;  // see EmbedTask
  v1::EmbeddingEncoding encoding_ = v1::EMBEDDING_FLOATS;
  std::vector<Source> sources_;  // with per_token
  int64_t values_ = 0;           // with per_token: numbers of all inputs so far
};

}  // namespace

std::unique_ptr<Handler> NewEmbedHandler(const Service& service,
                                         CallContext& context) {
  return std::make_unique<EmbedHandler>(service, context);
}

}  // namespace attend
