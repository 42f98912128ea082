#include "engine/families/shared/generation_config.h"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "engine/api/generation_limits.h"
#include "engine/families/shared/decoder_section.h"
#include "engine/families/shared/default_reader.h"
#include "engine/tensor/check.h"
#include "engine/tensor/status_macros.h"

namespace attend {
namespace {

using When = MissingDefault::When;

// The file that has a model's generation settings.
struct Source {
  JsonFile file;
  bool is_model_config = false;  // the file is config.json (before 4.27)
};

absl::StatusOr<Source> FindSource(const std::string& directory,
                                  const JsonFile& config) {
  absl::StatusOr<JsonFile> file =
      JsonFile::Load(directory + "/generation_config.json");
  if (file.ok()) return Source{*std::move(file), false};
  if (!absl::IsNotFound(file.status())) return std::move(file).status();
  return Source{WithDecoderSection(config), true};
}

// The requests that rely on a number of kIntLimits or kFloatLimits.
When WhenOf(absl::string_view field) {
  if (field == "length_penalty") return When::kBeams;
  for (const char* name : {"temperature", "top_k", "top_p", "min_p"}) {
    if (field == name) return When::kSampling;
  }
  return When::kAlways;
}

// The values that generate() takes for others: numbers below "off" are off.
int Effective(absl::string_view field, int value) {
  if (field == "num_return_sequences") return std::max(value, 1);
  for (const char* name : {"top_k", "no_repeat_ngram_size", "min_new_tokens"}) {
    if (field == name) return std::max(value, 0);
  }
  return value;
}
float Effective(absl::string_view field, float value) {
  if (field != "top_p") return value;
  // Only the likeliest token has a share of 0.
  if (value == 0) return std::numeric_limits<float>::min();
  return std::min(value, 1.0f);
}

// Reads the fields of kIntLimits and kFloatLimits.
void ReadNumbers(DefaultReader& reader, GenerationParams& params) {
  for (const FieldLimits<int>& row : kIntLimits) {
    if (!row.in_file || !reader.Has(row.name)) continue;
    const auto value = reader.Int(row.name, 0);
    if (value.ok()) {
      reader.Set(row.name, row.field, Effective(row.name, *value),
                 WhenOf(row.name), params);
    } else {
      reader.Drop(row.name, value.status(), WhenOf(row.name));
    }
  }
  for (const FieldLimits<float>& row : kFloatLimits) {
    if (!row.in_file || !reader.Has(row.name)) continue;
    const auto value = reader.Number(row.name, 0);
    if (value.ok()) {
      reader.Set(row.name, row.field,
                 Effective(row.name, static_cast<float>(*value)),
                 WhenOf(row.name), params);
    } else {
      reader.Drop(row.name, value.status(), WhenOf(row.name));
    }
  }
}

// Reads max_length and min_length, which max_new_tokens and min_new_tokens may
// replace later.
void ReadLengthsWithStart(bool starts, DefaultReader& reader,
                          GenerationDefaults& to) {
  GenerationParams& params = to.params;
  if (reader.Has("max_length") && !reader.Has("max_new_tokens")) {
    const auto most = reader.Int("max_length", 0);
    if (most.ok() && *most >= 2) {
      params.max_new_tokens = *most - 1;
      if (!starts) to.max_length = *most;
    } else {
      reader.Drop("max_new_tokens",
                  most.ok()
                      ? reader.file().Unexpected("max_length", "2 or more")
                      : most.status(),
                  When::kAlways);
    }
  }
  if (!reader.Has("min_length") || reader.Has("min_new_tokens")) return;
  const auto least = reader.Int("min_length", 0);
  if (least.ok()) {
    params.min_new_tokens = std::max(*least - 1, 0);
    if (!starts) to.min_length = std::max(*least, 0);
  } else {
    reader.Drop("min_new_tokens", least.status(), When::kAlways);
  }
}

void ReadSourceNgrams(DefaultReader& reader, GenerationDefaults& to) {
  const auto size = reader.Int("encoder_no_repeat_ngram_size", 0);
  if (size.ok()) {
    to.source_ngram_size = std::max(*size, 0);
  } else {
    reader.Drop("", size.status(), When::kAlways);
  }
}

void ReadEarlyStopping(DefaultReader& reader, GenerationParams& params) {
  constexpr char kKey[] = "early_stopping";
  const absl::StatusOr<std::string> text = reader.file().String(kKey);
  if (!text.ok()) {
    if (reader.IsTrue(kKey)) params.early_stopping = EarlyStopping::kTrue;
  } else if (*text == "never") {
    params.early_stopping = EarlyStopping::kNever;
  } else {
    reader.Drop(kKey,
                reader.file().Unexpected(kKey, "true, false or \"never\""),
                When::kBeams);
  }
}

void ReadMode(DefaultReader& reader, GenerationParams& params) {
  params.do_sample = reader.IsTrue("do_sample");
  // Requests that set neither are refused where they are read.
  if (params.do_sample && params.num_beams > 1) {
    reader.Warn(absl::StrCat(reader.file().path(), ": num_beams is ",
                             params.num_beams,
                             " and do_sample is true: requests must set one "
                             "of both"));
  }
  if (!params.do_sample && params.num_return_sequences > params.num_beams) {
    reader.Warn(absl::StrCat(reader.file().path(), ": num_return_sequences is ",
                             params.num_return_sequences,
                             ", more than num_beams, ", params.num_beams));
  }
}

absl::Status ReadIds(bool is_model_config, bool starts, DefaultReader& reader,
                     GenerationParams& params) {
  // One result is never padded, and a decoder alone has no start.
  params.pad_id = reader.OneId("pad_token_id").value_or(-1);
  const int bos = reader.OneId("bos_token_id").value_or(-1);
  for (const auto& [key, id] :
       {std::pair("forced_bos_token_id", &params.forced_bos_id),
        std::pair("forced_eos_token_id", &params.forced_eos_id)}) {
    const auto forced = reader.OneId(key);
    if (!forced.ok()) reader.Drop("", forced.status(), When::kAlways);
    *id = forced.value_or(-1);
  }
  if (!starts) return absl::OkStatus();
  ASSIGN_OR_RETURN(const int start, reader.OneId("decoder_start_token_id"));
  params.decoder_start_id = start >= 0 ? start : bos;
  if (params.decoder_start_id < 0) {
    return reader.file().Unexpected(
        "decoder_start_token_id",
        "a token id (there is no bos_token_id either)");
  }
  // transformers before 4.6 has this flag instead of forced_bos_token_id.
  if (is_model_config && bos >= 0 &&
      reader.IsTrue("force_bos_token_to_be_generated")) {
    params.forced_bos_id = bos;
  }
  return absl::OkStatus();
}

absl::StatusOr<GenerationDefaults> ReadDefaults(const Source& source,
                                                const TransformerSpec& spec) {
  ATTEND_CHECK(spec.decoder.has_value());
  const EmbeddingSpec& target = spec.decoder->embedding;
  DefaultReader reader(source.file, {0, target.vocab - 1});
  DropUnsupportedDefaults(reader);
  GenerationDefaults defaults;
  GenerationParams& params = defaults.params;
  // Without an encoder there is no decoder start: the prompt is the start.
  const bool starts = spec.encoder.has_value();
  ReadLengthsWithStart(starts, reader, defaults);
  ReadNumbers(reader, params);
  ReadSourceNgrams(reader, defaults);
  ReadEarlyStopping(reader, params);
  ReadMode(reader, params);
  params.renormalize_logits =
      source.file.BoolOr("renormalize_logits", false).value_or(false);
  ReadDefaultLists(reader, params);
  RETURN_IF_ERROR(ReadIds(source.is_model_config, starts, reader, params));
  // The decoder start or a prompt of one token takes a position.
  params.max_new_tokens =
      std::min(params.max_new_tokens, target.max_positions - 1);
  params.min_new_tokens =
      std::min(params.min_new_tokens, params.max_new_tokens);
  ATTEND_CHECK(CheckLimits(params).ok());
  defaults.missing = reader.TakeMissing();
  defaults.warnings = reader.TakeWarnings();
  return defaults;
}

}  // namespace

absl::StatusOr<GenerationDefaults> LoadGenerationDefaults(
    const std::string& directory, const JsonFile& config,
    const TransformerSpec& spec) {
  ASSIGN_OR_RETURN(const Source source, FindSource(directory, config));
  return ReadDefaults(source, spec);
}

absl::StatusOr<GenerationDefaults> GenerationDefaultsOf(
    const JsonFile& config, const TransformerSpec& spec) {
  return ReadDefaults({config, true}, spec);
}

}  // namespace attend
