#include "engine/tokenizer/gguf/piece_json.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "engine/tensor/status_macros.h"
#include "engine/tokenizer/gguf/piece_merges.h"
#include "engine/tokenizer/text/utf8.h"

namespace attend {
namespace {

using Json = nlohmann::json;

Json Replace(absl::string_view from, absl::string_view to) {
  return {{"type", "Replace"},
          {"pattern", {{"String", std::string(from)}}},
          {"content", std::string(to)}};
}

// Spells tokens of spaces alone as the others are spelled.
void RespellSpaces(std::vector<std::string>& tokens) {
  for (std::string& token : tokens) {
    const bool spaces =
        !token.empty() && token.find_first_not_of(' ') == std::string::npos;
    if (!spaces) continue;
    std::string marks;
    for (size_t i = 0; i < token.size(); ++i)
      absl::StrAppend(&marks, kSpaceMark);
    token = std::move(marks);
  }
}

absl::StatusOr<Json> MergesJson(const JsonFile& metadata,
                                const GgufVocabulary& vocabulary,
                                PieceSpaces spaces) {
  if (!vocabulary.merges.empty()) return Json(vocabulary.merges);
  std::vector<float> scores = vocabulary.scores;
  if (spaces == PieceSpaces::kNone) {
    scores.resize(vocabulary.tokens.size());
    for (size_t id = 0; id < scores.size(); ++id) {
      scores[id] = -static_cast<float>(id);
    }
  }
  if (scores.empty()) {
    return metadata.Unexpected("tokenizer.ggml.scores",
                               "a score for each token, or merges");
  }
  ASSIGN_OR_RETURN(const auto merges,
                   PieceMerges(metadata, vocabulary, scores));
  Json list = Json::array();
  for (const auto& [left, right] : merges) list.push_back({left, right});
  return list;
}

Json NormalizerJson(PieceSpaces spaces) {
  switch (spaces) {
    case PieceSpaces::kFirst:
      break;
    case PieceSpaces::kPrepend:
      return {{"type", "Sequence"},
              {"normalizers",
               {{{"type", "Prepend"}, {"prepend", std::string(kSpaceMark)}},
                Replace(" ", kSpaceMark)}}};
    case PieceSpaces::kNone:
      return Replace(" ", kSpaceMark);
  }
  return nullptr;
}

Json DecoderJson(bool strips) {
  Json steps = Json::array({Replace(kSpaceMark, " "),
                            {{"type", "ByteFallback"}},
                            {{"type", "Fuse"}}});
  if (strips) {
    steps.push_back(
        {{"type", "Strip"}, {"content", " "}, {"start", 1}, {"stop", 0}});
  }
  return {{"type", "Sequence"}, {"decoders", std::move(steps)}};
}

}  // namespace

absl::StatusOr<Json> PieceJson(const JsonFile& metadata,
                               GgufVocabulary vocabulary, PieceSpaces spaces) {
  if (spaces == PieceSpaces::kNone) RespellSpaces(vocabulary.tokens);
  const bool first = spaces == PieceSpaces::kFirst;
  const bool before =
      first ? vocabulary.space_before : spaces == PieceSpaces::kPrepend;
  ASSIGN_OR_RETURN(Json merges, MergesJson(metadata, vocabulary, spaces));
  Json vocab = Json::object();
  for (size_t id = 0; id < vocabulary.tokens.size(); ++id) {
    vocab[vocabulary.tokens[id]] = id;
  }
  Json unknown;
  if (vocabulary.unknown >= 0) unknown = vocabulary.TextOf(vocabulary.unknown);
  Json metaspace = {{"type", "Metaspace"},
                    {"replacement", std::string(kSpaceMark)},
                    {"prepend_scheme", before ? "first" : "never"},
                    {"split", false}};
  return Json{{"version", "1.0"},
              {"truncation", nullptr},
              {"padding", nullptr},
              {"added_tokens", AddedTokensJson(vocabulary)},
              {"normalizer", NormalizerJson(spaces)},
              {"pre_tokenizer", first ? std::move(metaspace) : Json()},
              {"post_processor", PostProcessorJson(vocabulary)},
              {"decoder", DecoderJson(before)},
              {"model",
               {{"type", "BPE"},
                {"dropout", nullptr},
                {"unk_token", std::move(unknown)},
                {"continuing_subword_prefix", nullptr},
                {"end_of_word_suffix", nullptr},
                {"fuse_unk", true},
                {"byte_fallback", true},
                {"ignore_merges", false},
                {"vocab", std::move(vocab)},
                {"merges", std::move(merges)}}}};
}

}  // namespace attend
