#include "engine/tokenizer/spm/piece_parts.h"

#include <utility>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "engine/tensor/status_macros.h"
#include "engine/tokenizer/text/utf8.h"

namespace attend {
namespace {

using Json = nlohmann::json;

// SentencePiece's own limit is 16 characters unless a training says otherwise.
constexpr size_t kMaxPieceBytes = 1024;
// Gemma 3 has 580,604.
constexpr size_t kMaxMerges = size_t{1} << 21;

// The token of a role; "None" as Python writes it, where the files say null.
std::string Role(const HfConfig& config, const char* key,
                 const std::string& name, const char* other) {
  if (!name.empty()) return name;
  return config.settings && config.settings->IsNull(key) ? "None" : other;
}

// Every way to make a piece of two others: pieces by their ids, and the ways of
// a piece by the length of the left one.
absl::StatusOr<Json> Merges(const std::string& path, const SpmFile& file) {
  absl::flat_hash_map<absl::string_view, int> ids;
  for (size_t id = 0; id < file.pieces.size(); ++id) {
    ids.emplace(file.pieces[id].text, id);
  }
  Json merges = Json::array();
  for (size_t id = 0; id < file.pieces.size(); ++id) {
    const absl::string_view piece = file.pieces[id].text;
    if (piece.size() > kMaxPieceBytes) {
      return absl::InvalidArgumentError(
          absl::StrCat(path, ": piece ", id, " has ", piece.size(),
                       " bytes, limit is ", kMaxPieceBytes));
    }
    for (size_t at = FirstUtf8Char(piece).length; at < piece.size();
         at += FirstUtf8Char(piece.substr(at)).length) {
      const absl::string_view left = piece.substr(0, at);
      const absl::string_view right = piece.substr(at);
      if (!ids.contains(left) || !ids.contains(right)) continue;
      if (merges.size() == kMaxMerges) {
        return absl::InvalidArgumentError(absl::StrCat(
            path, ": its pieces make more merges than ", kMaxMerges));
      }
      merges.push_back({std::string(left), std::string(right)});
    }
  }
  return merges;
}

absl::StatusOr<Json> BpeModel(const std::string& path, const SpmFile& file) {
  ASSIGN_OR_RETURN(Json merges, Merges(path, file));
  Json vocab = Json::object();
  for (const SpmFile::Piece& piece : file.pieces) {
    vocab.emplace(piece.text, vocab.size());
  }
  return Json{{"type", "BPE"},
              {"vocab", std::move(vocab)},
              {"merges", std::move(merges)}};
}

Json UnigramModel(const SpmFile& file, const PieceClass& row,
                  const HfConfig& config) {
  const bool camembert = row.order == PieceClass::Order::kCamembert;
  Json vocab = Json::array();
  if (camembert) {
    vocab = Json::array({{"<s>NOTUSED", 0.0},
                         {Role(config, "pad_token", config.pad, "<pad>"), 0.0},
                         {"</s>NOTUSED", 0.0},
                         {Role(config, "unk_token", config.unk, "<unk>"), 0.0},
                         {"<unk>NOTUSED", -100.0}});
  }
  for (size_t i = camembert ? 1 : 0; i < file.pieces.size(); ++i) {
    vocab.push_back({file.pieces[i].text, file.pieces[i].score});
  }
  if (camembert) {
    vocab.push_back({Role(config, "mask_token", config.mask, "<mask>"), 0.0});
  }
  return {{"type", "Unigram"},
          {"unk_id", file.unknown_id},
          {"vocab", std::move(vocab)},
          {"byte_fallback", file.byte_fallback}};
}

Json Replace(absl::string_view from, absl::string_view to) {
  return {{"type", "Replace"},
          {"pattern", {{"String", std::string(from)}}},
          {"content", std::string(to)}};
}

// Where added tokens are said to have ids of pieces, transformers renames those
// pieces, and their merges no more fit.
absl::Status CheckNames(const std::string& path, const SpmFile& file,
                        const HfConfig& config) {
  for (const HfConfig::Token& token : config.added) {
    if (token.id < 0 || token.id >= static_cast<int>(file.pieces.size()) ||
        absl::c_any_of(file.pieces, [&](const SpmFile::Piece& piece) {
          return piece.text == token.content;
        })) {
      continue;
    }
    return absl::InvalidArgumentError(absl::StrCat(
        path, ": piece ", token.id, " is \"", file.pieces[token.id].text,
        "\", but the added token of that id is \"", token.content,
        "\", which needs a tokenizer.json"));
  }
  return absl::OkStatus();
}

// The tokenizer of TokenizersBackend, which cuts no text before the model.
void MakePlain(const SpmFile& file, Json& json) {
  json["normalizer"]["normalizers"].push_back(Replace(" ", kSpaceMark));
  Json decoders = Json::array({Replace(kSpaceMark, " ")});
  if (file.byte_fallback) {
    decoders.push_back({{"type", "ByteFallback"}});
    decoders.push_back({{"type", "Fuse"}});
  }
  json["decoder"] = {{"type", "Sequence"}, {"decoders", std::move(decoders)}};
  Json& model = json["model"];
  model["byte_fallback"] = file.byte_fallback;
  if (model["type"] == "BPE") {
    model["fuse_unk"] = true;
    model["unk_token"] = file.pieces[file.unknown_id].text;
  }
}

}  // namespace

absl::StatusOr<Json> PieceParts(const std::string& path, const SpmFile& file,
                                const PieceClass& row, const HfConfig& config) {
  const bool pairs = file.model == SpmFile::Model::kBpe;
  if (pairs && row.model == PieceClass::Model::kUnigram) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": model_type is 2 (bpe), expected 1 (unigram) for ",
                     config.tokenizer_class));
  }
  Json json = {
      {"version", "1.0"},
      {"truncation", nullptr},
      {"padding", nullptr},
      {"added_tokens", Json::array()},
      {"normalizer", {{"type", "Sequence"}, {"normalizers", Json::array()}}},
      {"pre_tokenizer", nullptr},
      {"post_processor", nullptr},
      {"decoder", nullptr}};
  if (!file.charsmap.empty()) {
    json["normalizer"]["normalizers"].push_back(
        {{"type", "Precompiled"},
         {"precompiled_charsmap", absl::Base64Escape(file.charsmap)}});
  }
  const bool plain = row.model == PieceClass::Model::kOfFile;
  if (plain) RETURN_IF_ERROR(CheckNames(path, file, config));
  if (row.model == PieceClass::Model::kBpe || (plain && pairs)) {
    ASSIGN_OR_RETURN(json["model"], BpeModel(path, file));
  } else {
    json["model"] = UnigramModel(file, row, config);
  }
  if (plain) MakePlain(file, json);
  return json;
}

}  // namespace attend
