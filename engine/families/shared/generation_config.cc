#include "engine/families/shared/generation_config.h"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "engine/api/generation_limits.h"
#include "engine/tensor/check.h"
#include "engine/tensor/status_macros.h"

namespace attend {
namespace {

constexpr int kMinInt = std::numeric_limits<int>::min();
constexpr int kMaxInt = std::numeric_limits<int>::max();

// Fields of transformers' GenerationConfig that would change the result and are
// not supported, with the number that means "off".
constexpr std::pair<const char*, double> kUnsupported[] = {
    {"num_beam_groups", 1},
    {"diversity_penalty", 0},
    {"penalty_alpha", 0},
    {"constraints", 0},
    {"force_words_ids", 0},
    {"dola_layers", 0},
    {"typical_p", 1},
    {"epsilon_cutoff", 0},
    {"eta_cutoff", 0},
    {"top_h", 1},
    {"encoder_repetition_penalty", 1},
    {"encoder_no_repeat_ngram_size", 0},
    {"exponential_decay_length_penalty", 0},
    {"guidance_scale", 1},
    {"watermarking_config", 0},
    {"token_healing", 0},
    {"max_time", 0},
    {"forced_decoder_ids", 0},
};

// The file that has a model's generation settings.
struct Source {
  JsonFile file;
  bool is_model_config = false;  // the file is config.json (before 4.27)
  IntRange ids;                  // ids of the target vocabulary
};

IntRange IdsOf(const TransformerSpec& spec) {
  ATTEND_CHECK(spec.decoder.has_value());
  return {0, spec.decoder->embedding.vocab - 1};
}

absl::StatusOr<Source> FindSource(const std::string& directory,
                                  const JsonFile& config, IntRange ids) {
  absl::StatusOr<JsonFile> file =
      JsonFile::Load(directory + "/generation_config.json");
  if (file.ok()) return Source{*std::move(file), false, ids};
  if (!absl::IsNotFound(file.status())) return std::move(file).status();
  return Source{config, true, ids};
}

absl::StatusOr<int> IntOr(const JsonFile& file, absl::string_view key,
                          int fallback, int lowest = kMinInt) {
  ASSIGN_OR_RETURN(const int64_t value,
                   file.IntOr(key, fallback, {lowest, kMaxInt}));
  return static_cast<int>(value);
}

// Reads max_length and min_length, which max_new_tokens and min_new_tokens may
// replace later.
absl::Status ReadLengthsWithStart(const JsonFile& file,
                                  GenerationParams& params) {
  ASSIGN_OR_RETURN(const int most,
                   IntOr(file, "max_length", params.max_new_tokens + 1, 2));
  ASSIGN_OR_RETURN(const int least, IntOr(file, "min_length", 0, 0));
  params.max_new_tokens = most - 1;
  params.min_new_tokens = std::max(least - 1, 0);
  return absl::OkStatus();
}

// Reads the fields of kIntLimits and kFloatLimits. The limits are checked when
// all fields are read.
absl::Status ReadNumbers(const JsonFile& file, GenerationParams& params) {
  for (const FieldLimits<int>& row : kIntLimits) {
    if (!row.in_file) continue;
    ASSIGN_OR_RETURN(params.*row.field,
                     IntOr(file, row.name, params.*row.field));
  }
  constexpr double kMaxFloat = std::numeric_limits<float>::max();
  for (const FieldLimits<float>& row : kFloatLimits) {
    if (!row.in_file) continue;
    ASSIGN_OR_RETURN(
        const double value,
        file.FloatOr(row.name, params.*row.field, {-kMaxFloat, kMaxFloat}));
    params.*row.field = static_cast<float>(value);
  }
  return absl::OkStatus();
}

// Cuts the longest result to the model's positions. In a model without an
// encoder max_length and min_length count the prompt, whose length is not known
// here: they are read as if the prompt had one token.
absl::Status FitLengths(const JsonFile& file, int max_positions,
                        GenerationParams& params) {
  const int longest = max_positions - 1;  // less the decoder start
  params.max_new_tokens = std::min(params.max_new_tokens, longest);
  if (params.min_new_tokens <= params.max_new_tokens) return absl::OkStatus();
  return file.Unexpected(
      file.Has("min_new_tokens") ? "min_new_tokens" : "min_length",
      absl::StrCat("at most the longest result, ", params.max_new_tokens,
                   " new tokens"));
}

absl::Status ReadEarlyStopping(const JsonFile& file, GenerationParams& params) {
  if (!file.Has("early_stopping")) return absl::OkStatus();
  if (const absl::StatusOr<bool> stop = file.Bool("early_stopping");
      stop.ok()) {
    params.early_stopping =
        *stop ? EarlyStopping::kTrue : EarlyStopping::kFalse;
    return absl::OkStatus();
  }
  const absl::StatusOr<std::string> text = file.String("early_stopping");
  if (!text.ok() || *text != "never") {
    return file.Unexpected("early_stopping", "true, false or \"never\"");
  }
  params.early_stopping = EarlyStopping::kNever;
  return absl::OkStatus();
}

absl::Status CheckMode(const JsonFile& file, const GenerationParams& params) {
  if (params.do_sample && params.num_beams > 1) {
    return file.Unexpected("num_beams", "1 if do_sample is true");
  }
  if (!params.do_sample && params.num_return_sequences > params.num_beams) {
    return file.Unexpected(
        "num_return_sequences",
        absl::StrCat("at most num_beams = ", params.num_beams));
  }
  return absl::OkStatus();
}

absl::Status ReadBiases(const Source& source, GenerationParams& params) {
  const JsonFile& file = source.file;
  for (const auto& [key, to] :
       {std::pair("suppress_tokens", &params.suppress_tokens),
        std::pair("begin_suppress_tokens", &params.begin_suppress_tokens)}) {
    if (!file.Has(key)) continue;
    ASSIGN_OR_RETURN(*to, file.Ints(key, source.ids));
  }
  if (!file.Has("sequence_bias")) return absl::OkStatus();
  ASSIGN_OR_RETURN(auto biases,
                   file.IntListsWithNumbers("sequence_bias", source.ids));
  for (auto& [ids, bias] : biases) {
    params.sequence_bias.push_back({std::move(ids), static_cast<float>(bias)});
  }
  return absl::OkStatus();
}

absl::Status ReadFlagsAndLists(const Source& source, GenerationParams& params) {
  const JsonFile& file = source.file;
  ASSIGN_OR_RETURN(params.do_sample, file.BoolOr("do_sample", false));
  ASSIGN_OR_RETURN(params.renormalize_logits,
                   file.BoolOr("renormalize_logits", false));
  if (file.Has("bad_words_ids")) {
    ASSIGN_OR_RETURN(params.bad_words,
                     file.IntLists("bad_words_ids", source.ids));
  }
  if (file.Has("stop_strings")) {
    ASSIGN_OR_RETURN(params.stop_strings, file.Strings("stop_strings"));
  }
  return absl::OkStatus();
}

// One id, which may be written as a list of one id; -1 if the key is absent.
absl::StatusOr<int> OneId(const Source& source, absl::string_view key) {
  if (!source.file.Has(key)) return -1;
  ASSIGN_OR_RETURN(const std::vector<int> ids,
                   source.file.Ints(key, source.ids));
  if (ids.size() != 1) {
    return source.file.Unexpected(key, "a single token id");
  }
  return ids[0];
}

absl::Status ReadIds(const Source& source, bool starts,
                     GenerationParams& params) {
  const JsonFile& file = source.file;
  if (file.Has("eos_token_id")) {
    ASSIGN_OR_RETURN(params.eos_ids, file.Ints("eos_token_id", source.ids));
  }
  ASSIGN_OR_RETURN(params.pad_id, OneId(source, "pad_token_id"));
  ASSIGN_OR_RETURN(params.forced_bos_id, OneId(source, "forced_bos_token_id"));
  ASSIGN_OR_RETURN(params.forced_eos_id, OneId(source, "forced_eos_token_id"));
  ASSIGN_OR_RETURN(const int start, OneId(source, "decoder_start_token_id"));
  ASSIGN_OR_RETURN(const int bos, OneId(source, "bos_token_id"));
  if (!starts) return absl::OkStatus();
  params.decoder_start_id = start >= 0 ? start : bos;
  if (params.decoder_start_id < 0) {
    return file.Unexpected("decoder_start_token_id",
                           "a token id (there is no bos_token_id either)");
  }
  // transformers before 4.6 has this flag instead of forced_bos_token_id.
  if (source.is_model_config && bos >= 0) {
    ASSIGN_OR_RETURN(const bool forced,
                     file.BoolOr("force_bos_token_to_be_generated", false));
    if (forced) params.forced_bos_id = bos;
  }
  return absl::OkStatus();
}

absl::StatusOr<GenerationParams> ReadParams(const Source& source,
                                            const TransformerSpec& spec) {
  for (const auto& [key, neutral] : kUnsupported) {
    RETURN_IF_ERROR(source.file.ExpectNeutral(key, neutral));
  }
  GenerationParams params;
  RETURN_IF_ERROR(ReadLengthsWithStart(source.file, params));
  RETURN_IF_ERROR(ReadNumbers(source.file, params));
  RETURN_IF_ERROR(ReadEarlyStopping(source.file, params));
  RETURN_IF_ERROR(ReadFlagsAndLists(source, params));
  RETURN_IF_ERROR(ReadBiases(source, params));
  // Without an encoder there is no decoder start: the prompt is the start.
  RETURN_IF_ERROR(ReadIds(source, spec.encoder.has_value(), params));
  RETURN_IF_ERROR(CheckLimits(params, absl::StrCat(source.file.path(), ": ")));
  RETURN_IF_ERROR(
      FitLengths(source.file, spec.decoder->embedding.max_positions, params));
  RETURN_IF_ERROR(CheckMode(source.file, params));
  return params;
}

}  // namespace

absl::StatusOr<GenerationParams> LoadGenerationParams(
    const std::string& directory, const JsonFile& config,
    const TransformerSpec& spec) {
  ASSIGN_OR_RETURN(const Source source,
                   FindSource(directory, config, IdsOf(spec)));
  return ReadParams(source, spec);
}

absl::StatusOr<GenerationParams> GenerationParamsOf(
    const JsonFile& config, const TransformerSpec& spec) {
  return ReadParams({config, true, IdsOf(spec)}, spec);
}

}  // namespace attend
