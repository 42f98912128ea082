#include "engine/tokenizer/hf/class_json.h"

#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "engine/json/json_parse.h"
#include "engine/tokenizer/hf/class_model.h"
#include "engine/tokenizer/hf/class_tokens.h"
#include "engine/tokenizer/hf/class_values.h"
#include "engine/tokenizer/text/class_table.h"

namespace attend {
namespace {

using Json = nlohmann::json;

// The table of the first Precompiled normalizer, base64; null if there is none.
Json CharsmapOf(const Json& file) {
  const Json normalizer = file.value("normalizer", Json());
  if (!normalizer.is_object()) return nullptr;
  Json steps = Json::array({normalizer});
  if (normalizer.value("type", Json()) == "Sequence") {
    steps = normalizer.value("normalizers", Json());
  }
  for (const Json& step : steps) {
    if (step.is_object() && step.value("type", Json()) == "Precompiled") {
      return step.value("precompiled_charsmap", Json());
    }
  }
  return nullptr;
}

// The file that the class makes; null if it cannot.
Json ClassFile(const Json& row, const Json& file, const HfConfig& config) {
  const Json from = file.value("model", Json());
  if (!from.is_object()) return {};
  const ClassValues values(row, config, CharsmapOf(file));
  Json made = {{"version", "1.0"},
               {"truncation", nullptr},
               {"padding", nullptr},
               {"added_tokens", Json::array()},
               {"post_processor", file.value("post_processor", Json())}};
  made["model"] = ClassModel(row, from, config, values);
  if (made["model"].is_null()) return {};
  for (const char* part : {"normalizer", "pre_tokenizer", "decoder"}) {
    made[part] = values.Fill(row.value(part, Json()));
  }
  return made;
}

}  // namespace

absl::StatusOr<std::string> ApplyClass(std::string text, HfConfig& config) {
  absl::StatusOr<Json> file = ParseJsonObject("tokenizer.json", text);
  if (!file.ok()) return text;
  const Json* row = FindClassRow(config.tokenizer_class);
  Json made;
  const bool keeps =
      row != nullptr && !config.of_parts && row->value("keeps_file", false);
  if (row != nullptr && !keeps) made = ClassFile(*row, *file, config);
  if (made.is_null() && row != nullptr &&
      row->value("makes_vocabulary", false)) {
    return absl::InvalidArgumentError(
        absl::StrCat(config.tokenizer_class, " expects pieces with scores"));
  }
  ReadDefaults(*file, row, config);
  config.built_by_class = keeps || !made.is_null();
  GatherTokens(*file, made.is_null(), config);
  if (made.is_null()) {
    config.special.clear();
    return text;
  }
  AddAgain(row->value("respecial", Json()), config);
  config.special.clear();
  return made.dump();
}

}  // namespace attend
