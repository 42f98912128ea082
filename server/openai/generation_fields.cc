// The fields that chat and completions share: what they are, and what becomes
// of them.

#include <algorithm>
#include <limits>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "server/http_call/http_status.h"
#include "server/openai/constraint_fields.h"
#include "server/openai/generation.h"
#include "server/openai/model_field.h"
#include "server/openai/neutral_fields.h"

namespace attend {
namespace {

using GenerationField = JsonField<GenerationRequest>;

// Readers of one value each. `kSet` puts the number into its place.
template <auto kSet>
absl::Status ReadFloat(const JsonValue& value, GenerationRequest& to) {
  ASSIGN_OR_RETURN(const double number, value.Float());
  (to.params().*kSet)(static_cast<float>(number));
  return absl::OkStatus();
}
template <auto kSet>
absl::Status ReadInt(const JsonValue& value, GenerationRequest& to) {
  ASSIGN_OR_RETURN(const int64_t number, value.Int());
  (to.params().*kSet)(static_cast<int>(number));
  return absl::OkStatus();
}
template <auto kMember, int64_t kMin, int64_t kMax>
absl::Status ReadOwnInt(const JsonValue& value, GenerationRequest& to) {
  ASSIGN_OR_RETURN(to.*kMember, value.Int(kMin, kMax));
  return absl::OkStatus();
}
// llama.cpp's and LangChain's -1 asks for as many tokens as fit.
template <std::optional<int64_t> GenerationRequest::*kMember>
absl::Status ReadMaxTokens(const JsonValue& value, GenerationRequest& to) {
  ASSIGN_OR_RETURN(const int64_t number, value.Int(-1, 1 << 30));
  if (number == -1) {
    to.unlimited = true;
  } else {
    to.*kMember = number;
  }
  return absl::OkStatus();
}
// Some programs write -1 for no limit, as vLLM does.
absl::Status ReadTopK(const JsonValue& value, GenerationRequest& to) {
  ASSIGN_OR_RETURN(const int64_t number, value.Int(-1));
  to.params().set_top_k(static_cast<int>(std::max<int64_t>(number, 0)));
  return absl::OkStatus();
}
template <bool GenerationRequest::*kMember>
absl::Status ReadBool(const JsonValue& value, GenerationRequest& to) {
  ASSIGN_OR_RETURN(to.*kMember, value.Bool());
  return absl::OkStatus();
}

absl::Status ReadTemperature(const JsonValue& value, GenerationRequest& to) {
  ASSIGN_OR_RETURN(to.temperature, value.Float(0, 2));
  return absl::OkStatus();
}

// 0 leaves the likeliest token, as any other small number does.
absl::Status ReadTopP(const JsonValue& value, GenerationRequest& to) {
  ASSIGN_OR_RETURN(const double top_p, value.Float(0, 1));
  to.params().set_top_p(
      std::max(static_cast<float>(top_p), std::numeric_limits<float>::min()));
  return absl::OkStatus();
}

// Any integer of 64 bits, with a sign or without.
absl::Status ReadSeed(const JsonValue& value, GenerationRequest& to) {
  if (value.json().is_number_unsigned()) {
    to.params().set_seed(value.json().get<uint64_t>());
    return absl::OkStatus();
  }
  ASSIGN_OR_RETURN(const int64_t seed,
                   value.Int(std::numeric_limits<int64_t>::min(),
                             std::numeric_limits<int64_t>::max()));
  to.params().set_seed(static_cast<uint64_t>(seed));
  return absl::OkStatus();
}

absl::Status ReadStop(const JsonValue& value, GenerationRequest& to) {
  ASSIGN_OR_RETURN(const std::vector<std::string> texts, value.Strings());
  for (const std::string& text : texts) {
    if (text.empty()) return FieldError(value.name(), "has an empty string");
    to.params().add_stop_strings(text);
  }
  return absl::OkStatus();
}

absl::Status ReadStopIds(const JsonValue& value, GenerationRequest& to) {
  ASSIGN_OR_RETURN(const std::vector<JsonValue> entries, value.List());
  for (const JsonValue& entry : entries) {
    ASSIGN_OR_RETURN(const int64_t id, entry.Int(0));
    to.params().add_stop_ids(static_cast<int>(id));
  }
  return absl::OkStatus();
}

// Keys are token ids.
absl::Status ReadLogitBias(const JsonValue& value, GenerationRequest& to) {
  ASSIGN_OR_RETURN(const std::vector<JsonValue> members, value.Members());
  for (const JsonValue& member : members) {
    int id = 0;
    if (!absl::SimpleAtoi(member.key(), &id)) {
      return FieldError(value.name(),
                        "has a key that is no token id in decimal digits");
    }
    ASSIGN_OR_RETURN(const double bias, member.Float(-100, 100));
    (*to.params().mutable_logit_bias())[id] = static_cast<float>(bias);
  }
  return absl::OkStatus();
}

absl::Status ReadCacheSalt(const JsonValue& value, GenerationRequest& to) {
  ASSIGN_OR_RETURN(*to.params().mutable_cache_salt(), value.String());
  return absl::OkStatus();
}

absl::Status ReadStreamOptions(const JsonValue& value, GenerationRequest& to) {
  static constexpr GenerationField kGenerationFields[] = {
      {"include_usage", "", "", ReadBool<&GenerationRequest::include_usage>},
      {"include_obfuscation", "", "", ReadFalse<GenerationRequest>},
      {"continuous_usage_stats", "", "", ReadFalse<GenerationRequest>},
  };
  return ReadFields<GenerationRequest>(value, kGenerationFields, to);
}

constexpr GenerationField kGenerationFields[] = {
    ModelField<GenerationRequest,
               [](GenerationRequest& to) {
                 return to.request->mutable_model();
               }>(),
    {"stream", R"({"type": "boolean"})",
     "Send the answer as server-sent events, as it is computed.",
     ReadBool<&GenerationRequest::streams>},
    {"stream_options",
     R"({"type": "object", "properties": {"include_usage": {"type": "boolean"}}})",
     "include_usage: a last event with the usage of the whole call.",
     ReadStreamOptions},
    {"n", R"({"type": "integer", "minimum": 1, "maximum": 128})",
     "Choices for each prompt.",
     ReadOwnInt<&GenerationRequest::choices, 1, kMaxChoices>},
    {"best_of", R"({"type": "integer", "minimum": 1, "maximum": 128})",
     "Must be n, if given.",
     ReadOwnInt<&GenerationRequest::best_of, 1, kMaxChoices>},
    {"max_tokens", R"({"type": "integer", "minimum": -1})",
     "Maximum number of new tokens; -1: as many as fit.",
     ReadMaxTokens<&GenerationRequest::max_tokens>},
    {"max_completion_tokens", R"({"type": "integer", "minimum": -1})",
     "The newer name of max_tokens.",
     ReadMaxTokens<&GenerationRequest::max_completion_tokens>},
    {"temperature", R"({"type": "number", "minimum": 0, "maximum": 2})",
     "0: the likeliest tokens. Default: 1 if the model continues text, or what "
     "its generation_config.json says; other models do not sample.",
     ReadTemperature},
    {"top_p", R"({"type": "number", "minimum": 0, "maximum": 1})",
     "Sample from the likeliest tokens that together have this probability; 0: "
     "the likeliest one.",
     ReadTopP},
    {"seed", R"({"type": "integer"})",
     "The same seed gives the same choices, whatever else runs.", ReadSeed},
    {"stop",
     R"({"oneOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]})",
     "Texts that end a choice; at most 16.", ReadStop},
    {"presence_penalty", R"({"type": "number"})",
     "Subtracted from the logit of each token that was generated before.",
     ReadFloat<&v1::GenerationParams::set_presence_penalty>},
    {"frequency_penalty", R"({"type": "number"})",
     "The same, once for each time that the token was generated.",
     ReadFloat<&v1::GenerationParams::set_frequency_penalty>},
    {"logit_bias",
     R"({"type": "object", "additionalProperties": {"type": "number"}})",
     "Added to the logits of tokens, by their ids.", ReadLogitBias},
    {"response_format", R"({"type": "object", "required": ["type"]})",
     "What the text has to be: of the type text anything, json_object a JSON "
     "object, json_schema JSON that json_schema.schema allows.",
     ReadResponseFormat},
    // vLLM's.
    {"top_k", R"({"type": "integer", "minimum": -1})",
     "Sample from this many of the likeliest tokens; 0 or -1: from all.",
     ReadTopK},
    {"min_p", R"({"type": "number", "minimum": 0, "maximum": 1})",
     "Sample from tokens that are at least so many times as likely as the "
     "likeliest.",
     ReadFloat<&v1::GenerationParams::set_min_p>},
    {"repetition_penalty", R"({"type": "number", "exclusiveMinimum": 0})",
     "Above 1: tokens that came before become less likely.",
     ReadFloat<&v1::GenerationParams::set_repetition_penalty>},
    {"no_repeat_ngram_size", R"({"type": "integer", "minimum": 0})",
     "No sequence of so many tokens occurs twice.",
     ReadInt<&v1::GenerationParams::set_no_repeat_ngram_size>},
    {"min_tokens", R"({"type": "integer", "minimum": 0})",
     "The fewest new tokens before an end.",
     ReadInt<&v1::GenerationParams::set_min_new_tokens>},
    {"stop_token_ids", R"({"type": "array", "items": {"type": "integer"}})",
     "Tokens that end a choice; at most 64.", ReadStopIds},
    {"ignore_eos", R"({"type": "boolean"})",
     "No end before max_tokens, which is needed then.",
     ReadBool<&GenerationRequest::ignore_eos>},
    {"use_beam_search", R"({"type": "boolean"})",
     "Beam search with n beams, or num_beams.",
     ReadBool<&GenerationRequest::beam_search>},
    {"num_beams", R"({"type": "integer", "minimum": 1})",
     "Beams of a beam search; the n best are returned.",
     ReadInt<&v1::GenerationParams::set_num_beams>},
    {"length_penalty", R"({"type": "number"})",
     "The score of a beam is divided by length ^ length_penalty.",
     ReadFloat<&v1::GenerationParams::set_length_penalty>},
    {"cache_salt", kAnyString,
     "Share cached prefixes with requests of the same text only, whatever "
     "their tenants are; at most 256 bytes. Default: with those of the tenant.",
     ReadCacheSalt},
    {"structured_outputs", R"({"type": "object", "minProperties": 1})",
     "What the text has to be, by one of json (a schema), json_object (true), "
     "regex, choice (a list of texts), grammar (Lark).",
     ReadStructuredOutputs},
    {"guided_json", R"({"type": ["object", "string"]})",
     "The older name of structured_outputs.json.", ReadGuidedJson},
    {"guided_regex", kAnyString, "The older name of structured_outputs.regex.",
     ReadGuidedRegex},
    {"guided_choice", R"({"type": "array", "items": {"type": "string"}})",
     "The older name of structured_outputs.choice.", ReadGuidedChoice},
    {"guided_grammar", kAnyString,
     "The older name of structured_outputs.grammar.", ReadGuidedGrammar},
    // Fields that ask for nothing.
    {"user", kAnyString, kAsksForNothing, ReadAnyString<GenerationRequest>},
    {"safety_identifier", kAnyString, kAsksForNothing,
     ReadAnyString<GenerationRequest>},
    {"prompt_cache_key", kAnyString, kAsksForNothing,
     ReadAnyString<GenerationRequest>},
    {"metadata", R"({"type": "object"})", kAsksForNothing,
     ReadAnyObject<GenerationRequest>},
    {"store", kOnlyFalse, kNotStored, ReadFalse<GenerationRequest>},
    {"service_tier", R"({"enum": ["auto", "default"]})", kAsksForNothing,
     ReadServiceTier<GenerationRequest>},
    {"skip_special_tokens", kOnlyTrue, "Only true: texts have none.",
     ReadTrue<GenerationRequest>},
    {"include_stop_str_in_output", kOnlyFalse,
     "Only false: the text ends before the stop string.",
     ReadFalse<GenerationRequest>},
};

}  // namespace

absl::Span<const JsonField<GenerationRequest>> GenerationFields() {
  return kGenerationFields;
}

}  // namespace attend
