#include "engine/tokenizer/text/hf_config.h"

#include <algorithm>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "engine/json/json_file.h"
#include "engine/json/read_file.h"
#include "engine/tensor/status_macros.h"
#include "engine/tokenizer/text/auto_class.h"
#include "engine/tokenizer/text/class_table.h"
#include "engine/tokenizer/text/hf_tokens.h"

namespace attend {
namespace {

using Json = nlohmann::json;

absl::Status ReadTruncationSide(const JsonFile& file,
                                std::optional<TruncationSide>& side) {
  constexpr char kKey[] = "truncation_side";
  if (!file.Has(kKey)) return absl::OkStatus();
  ASSIGN_OR_RETURN(const std::string text, file.String(kKey));
  if (text != "left" && text != "right") {
    return file.Unexpected(kKey, "left or right");
  }
  side = text == "left" ? TruncationSide::kLeft : TruncationSide::kRight;
  return absl::OkStatus();
}

// Reads the limit of tokens; 0 if the number is above every length
// (transformers writes 1e30 if there is no limit).
absl::Status ReadMaxLength(const JsonFile& file, int& length) {
  constexpr FloatRange kPositive = {1, std::numeric_limits<double>::max()};
  constexpr char kKey[] = "model_max_length";
  // The old name counts only where the new one is not there at all.
  const bool said = file.Has(kKey) || file.IsNull(kKey);
  ASSIGN_OR_RETURN(const double value,
                   file.FloatOr(said ? kKey : "max_len", 0, kPositive));
  length = value < 1 << 30 ? static_cast<int>(value) : 0;
  return absl::OkStatus();
}

absl::Status ReadClass(const std::string& directory, const JsonFile& file,
                       std::string& name) {
  ASSIGN_OR_RETURN(const JsonFile config,
                   JsonFile::LoadOrEmpty(directory + "/config.json"));
  ClassNames names;
  ASSIGN_OR_RETURN(names.tokenizer_class, file.StringOr("tokenizer_class", ""));
  ASSIGN_OR_RETURN(names.config_class, config.StringOr("tokenizer_class", ""));
  ASSIGN_OR_RETURN(names.model_type, config.StringOr("model_type", ""));
  const Json* model_name = config.Find("model_name");
  if (model_name != nullptr && model_name->is_string()) {
    names.model_name = *model_name;
  }
  names.own_code = file.Has("auto_map");
  if (names.tokenizer_class == "LlamaTokenizer" ||
      names.tokenizer_class == "LlamaTokenizerFast" ||
      names.tokenizer_class.empty()) {
    const auto json = ReadFile(directory + "/tokenizer.json");
    names.byte_level = json.ok() && absl::StrContains(*json, "\"ByteLevel\"");
  }
  name = AutoClass(names);
  return absl::OkStatus();
}

// Reads from the names of its inputs whether the model gets token types.
absl::Status ReadInputNames(const JsonFile& file, HfConfig& config) {
  constexpr char kKey[] = "model_input_names";
  const Json* row = FindClassRow(config.tokenizer_class);
  config.token_types = row != nullptr && row->value("types", false);
  if (!file.Has(kKey)) return absl::OkStatus();
  ASSIGN_OR_RETURN(const std::vector<std::string> names, file.Strings(kKey));
  config.token_types =
      std::find(names.begin(), names.end(), "token_type_ids") != names.end();
  return absl::OkStatus();
}

// Reads the fields that are flags, strings or numbers; `config` has the
// defaults.
absl::Status ReadValues(const JsonFile& file, HfConfig& config) {
  const std::pair<const char*, bool*> flags[] = {
      {"clean_up_tokenization_spaces", &config.clean_up_spaces},
      {"clean_up_tokenization_spaces_for_bpe_even_though_it_will_corrupt_"
       "output",
       &config.clean_up_bpe},
      {"split_special_tokens", &config.split_special_tokens},
      {"legacy_behaviour", &config.legacy_behaviour},
      {"separate_vocabs", &config.separate_vocabs}};
  for (const auto& [key, flag] : flags) {
    ASSIGN_OR_RETURN(*flag, file.BoolOr(key, *flag));
  }
  const std::pair<const char*, std::string*> texts[] = {
      {"src_lang", &config.source_language},
      {"tgt_lang", &config.target_language},
      // Marian calls them so.
      {"source_lang", &config.source_language},
      {"target_lang", &config.target_language},
      {"language_codes", &config.language_codes}};
  for (const auto& [key, text] : texts) {
    ASSIGN_OR_RETURN(*text, file.StringOr(key, *text));
  }
  const std::pair<const char*, int*> counts[] = {
      {"extra_ids", &config.extra_ids}, {"offset", &config.offset}};
  for (const auto& [key, count] : counts) {
    ASSIGN_OR_RETURN(*count, file.IntOr(key, *count, {0, 100000}));
  }
  const Json* options = file.Find("sp_model_kwargs");
  config.sp_options = options != nullptr && !options->empty();
  RETURN_IF_ERROR(ReadMaxLength(file, config.max_length));
  RETURN_IF_ERROR(ReadTruncationSide(file, config.cut_side));
  config.truncation_side = config.cut_side.value_or(TruncationSide::kRight);
  return absl::OkStatus();
}

// Reads the flags that count without a tokenizer.json.
absl::Status ReadFrame(const JsonFile& file, HfConfig& config) {
  config.of_parts = true;
  for (const auto& [key, flag] :
       {std::pair("add_bos_token", &config.adds_bos),
        std::pair("add_eos_token", &config.adds_eos)}) {
    if (file.IsNull(key)) *flag = false;
    if (!file.Has(key)) continue;
    ASSIGN_OR_RETURN(*flag, file.Bool(key));
  }
  return absl::OkStatus();
}

// `parts` may be null.
absl::StatusOr<HfConfig> LoadConfig(const std::string& directory,
                                    const HfPartSettings* parts) {
  HfConfig config;
  ASSIGN_OR_RETURN(HfSettings settings, ReadSettings(directory, config));
  if (parts != nullptr) {
    for (const auto& [key, value] : parts->overrides) {
      settings.values[key] = value;
    }
    for (const auto& [key, value] : parts->defaults) {
      settings.values.emplace(key, value);
    }
  }
  // Errors name both files where values of both have been merged.
  std::string name = directory + "/tokenizer_config.json";
  if (!config.names_added &&
      std::filesystem::exists(directory + "/special_tokens_map.json")) {
    absl::StrAppend(&name, " with special_tokens_map.json");
  }
  config.settings = JsonFile::Of(name, settings.values);
  const JsonFile& file = *config.settings;
  RETURN_IF_ERROR(ReadClass(directory, file, config.tokenizer_class));
  config.clean_up_bpe = config.tokenizer_class == "LukeTokenizer" ||
                        config.tokenizer_class == "MLukeTokenizer";
  RETURN_IF_ERROR(ReadValues(file, config));
  if (parts != nullptr) RETURN_IF_ERROR(ReadFrame(file, config));
  RETURN_IF_ERROR(ReadInputNames(file, config));
  RETURN_IF_ERROR(ReadSpecialTokens(settings, config));
  return config;
}

}  // namespace

absl::StatusOr<HfConfig> LoadHfConfig(const std::string& directory) {
  return LoadConfig(directory, nullptr);
}

absl::StatusOr<HfConfig> LoadHfConfig(const std::string& directory,
                                      const HfPartSettings& parts) {
  return LoadConfig(directory, &parts);
}

}  // namespace attend
