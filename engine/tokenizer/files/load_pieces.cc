#include "engine/tokenizer/files/load_pieces.h"

#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "engine/json/json_parse.h"
#include "engine/json/read_file.h"
#include "engine/tensor/status_macros.h"
#include "engine/tokenizer/files/make_tokenizer.h"
#include "engine/tokenizer/spm/piece_parts.h"
#include "engine/tokenizer/spm/spm_file.h"
#include "engine/tokenizer/spm/spm_json.h"
#include "engine/tokenizer/spm/spm_normalizer.h"
#include "engine/tokenizer/text/hf_token_json.h"

namespace attend {
namespace {

using Json = nlohmann::json;

// The contents of a SentencePiece model beyond the settings: the pieces that
// are found in texts before they are cut, and the tokens around a text.
HfPartSettings SettingsOf(const SpmFile& spm, bool plain) {
  std::vector<HfConfig::Token> pieces;
  for (const SpmFile::Piece& piece : spm.pieces) {
    const bool control = piece.type == SpmFile::Type::kControl;
    if (control || piece.type == SpmFile::Type::kUserDefined) {
      pieces.push_back({.content = piece.text, .special = control});
    }
  }
  HfPartSettings settings;
  settings.overrides["additional_special_tokens"] = Json::parse(ToJson(pieces));
  settings.overrides["unk_id"] = spm.unknown_id;
  if (!plain) return settings;
  if (!spm.bos.empty()) settings.defaults["bos_token"] = spm.bos;
  if (!spm.eos.empty()) settings.defaults["eos_token"] = spm.eos;
  settings.defaults["unk_token"] = spm.pieces[spm.unknown_id].text;
  return settings;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Tokenizer>> LoadPieces(
    const std::string& directory, absl::string_view file, const PieceClass& row,
    const TokenizerSettings& settings) {
  const std::string path = absl::StrCat(directory, "/", file);
  ASSIGN_OR_RETURN(const std::string bytes, ReadFile(path));
  ASSIGN_OR_RETURN(const SpmFile spm, ParseSpmFile(path, bytes));
  RETURN_IF_ERROR(SpmNormalizer::Create(path, spm).status());
  const bool plain = row.model == PieceClass::Model::kOfFile;
  ASSIGN_OR_RETURN(HfConfig config,
                   LoadHfConfig(directory, SettingsOf(spm, plain)));
  config.extra = settings;
  if (row.model != PieceClass::Model::kOwn) {
    ASSIGN_OR_RETURN(Json parts, PieceParts(path, spm, row, config));
    if (plain) config.tokenizer_class.clear();  // the parts are all
    return MakeTokenizer(path, parts, std::move(config));
  }
  ASSIGN_OR_RETURN(const std::string json, SpmToJson(path, spm, config));
  // The class makes the rest of the vocabulary, as from a tokenizer.json.
  ASSIGN_OR_RETURN(Json top, ParseJsonObject(path, json));
  top["added_tokens"] = Json::array();
  top["post_processor"] = nullptr;
  return MakeTokenizer(path, top, std::move(config));
}

}  // namespace attend
