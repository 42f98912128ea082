#include "engine/tokenizer/gguf/gguf_vocabulary.h"

#include <algorithm>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "engine/tensor/status_macros.h"
#include "engine/tokenizer/gguf/pre_tokenizers.h"

namespace attend {
namespace {

using Json = nlohmann::json;
using Type = GgufVocabulary::Type;

std::string Key(absl::string_view name) {
  return absl::StrCat("tokenizer.ggml.", name);
}

absl::Status ReadTypes(const JsonFile& metadata, GgufVocabulary& vocabulary) {
  const std::string key = Key("token_type");
  if (!metadata.Has(key)) return absl::OkStatus();
  ASSIGN_OR_RETURN(const std::vector<int> types, metadata.Ints(key, {0, 6}));
  if (types.size() != vocabulary.tokens.size()) {
    return metadata.Unexpected(
        key, absl::StrCat("a type for each of the ", vocabulary.tokens.size(),
                          " tokens, not ", types.size()));
  }
  for (const int type : types) {
    // Some programs write 0 for normal tokens.
    vocabulary.types.push_back(static_cast<Type>(std::max(type, 1)));
  }
  return absl::OkStatus();
}

absl::Status ReadScores(const JsonFile& metadata, GgufVocabulary& vocabulary) {
  const std::string key = Key("scores");
  if (!metadata.Has(key)) return absl::OkStatus();
  ASSIGN_OR_RETURN(vocabulary.scores,
                   metadata.Floats(key, vocabulary.tokens.size(), {}));
  return absl::OkStatus();
}

absl::Status ReadIds(const JsonFile& metadata, GgufVocabulary& vocabulary) {
  const int64_t last = static_cast<int64_t>(vocabulary.tokens.size()) - 1;
  for (const auto& [name, id] :
       {std::pair("bos_token_id", &vocabulary.bos),
        std::pair("eos_token_id", &vocabulary.eos),
        std::pair("unknown_token_id", &vocabulary.unknown),
        std::pair("padding_token_id", &vocabulary.pad),
        std::pair("cls_token_id", &vocabulary.cls),
        // llama.cpp spells it so.
        std::pair("seperator_token_id", &vocabulary.sep),
        std::pair("mask_token_id", &vocabulary.mask)}) {
    if (!metadata.Has(Key(name))) continue;
    ASSIGN_OR_RETURN(const int64_t value, metadata.Int(Key(name), {0, last}));
    *id = static_cast<int>(value);
  }
  return absl::OkStatus();
}

absl::Status ReadFlags(const JsonFile& metadata, bool add_bos, bool add_eos,
                       GgufVocabulary& vocabulary) {
  ASSIGN_OR_RETURN(vocabulary.add_bos,
                   metadata.BoolOr(Key("add_bos_token"), add_bos));
  ASSIGN_OR_RETURN(vocabulary.add_eos,
                   metadata.BoolOr(Key("add_eos_token"), add_eos));
  ASSIGN_OR_RETURN(vocabulary.space_before,
                   metadata.BoolOr(Key("add_space_prefix"), true));
  if (vocabulary.add_bos && vocabulary.bos < 0) {
    return metadata.Unexpected(Key("bos_token_id"),
                               "the id of the token before each text");
  }
  if (vocabulary.add_eos && vocabulary.eos < 0) {
    return metadata.Unexpected(Key("eos_token_id"),
                               "the id of the token after each text");
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<GgufVocabulary> ReadGgufVocabulary(const JsonFile& metadata) {
  GgufVocabulary vocabulary;
  ASSIGN_OR_RETURN(vocabulary.model, metadata.String(Key("model")));
  ASSIGN_OR_RETURN(vocabulary.pre, metadata.StringOr(Key("pre"), ""));
  ASSIGN_OR_RETURN(vocabulary.tokens, metadata.Strings(Key("tokens")));
  if (vocabulary.tokens.empty()) {
    return metadata.Unexpected(Key("tokens"), "one token or more");
  }
  if (metadata.Has(Key("merges"))) {
    ASSIGN_OR_RETURN(vocabulary.merges, metadata.Strings(Key("merges")));
  }
  RETURN_IF_ERROR(ReadTypes(metadata, vocabulary));
  RETURN_IF_ERROR(ReadScores(metadata, vocabulary));
  RETURN_IF_ERROR(ReadIds(metadata, vocabulary));
  // As llama.cpp does where a file says nothing.
  const PreTokenizer* words = FindPreTokenizer(vocabulary.pre);
  const bool add_bos =
      vocabulary.model == "llama" || (words != nullptr && words->adds_bos);
  RETURN_IF_ERROR(ReadFlags(metadata, add_bos && vocabulary.bos >= 0,
                            /*add_eos=*/vocabulary.model == "t5", vocabulary));
  return vocabulary;
}

HfConfig HfConfigOf(const GgufVocabulary& vocabulary) {
  HfConfig config;
  for (const auto& [id, role] : {std::pair(vocabulary.bos, &config.bos),
                                 std::pair(vocabulary.eos, &config.eos),
                                 std::pair(vocabulary.unknown, &config.unk),
                                 std::pair(vocabulary.pad, &config.pad),
                                 std::pair(vocabulary.cls, &config.cls),
                                 std::pair(vocabulary.sep, &config.sep),
                                 std::pair(vocabulary.mask, &config.mask)}) {
    if (id < 0) continue;
    *role = vocabulary.tokens[id];
    config.special.push_back({.content = *role});
  }
  return config;
}

Json AddedTokensJson(const GgufVocabulary& vocabulary) {
  Json added = Json::array();
  for (size_t id = 0; id < vocabulary.tokens.size(); ++id) {
    const Type type = vocabulary.type(id);
    if (type != Type::kControl && type != Type::kUserDefined) continue;
    if (vocabulary.tokens[id].empty()) continue;
    added.push_back({{"id", id},
                     {"content", vocabulary.tokens[id]},
                     {"single_word", false},
                     {"lstrip", false},
                     {"rstrip", false},
                     {"normalized", false},
                     {"special", type == Type::kControl}});
  }
  return added;
}

Json PostProcessorJson(const GgufVocabulary& vocabulary) {
  if (!vocabulary.add_bos && !vocabulary.add_eos) return nullptr;
  Json special = Json::object();
  const auto add = [&](int id, Json& list) {
    const std::string& token = vocabulary.tokens[id];
    list.push_back({{"SpecialToken", {{"id", token}, {"type_id", 0}}}});
    special[token] = {{"id", token}, {"ids", {id}}, {"tokens", {token}}};
  };
  const auto frame = [&](const char* text, Json& list) {
    if (vocabulary.add_bos) add(vocabulary.bos, list);
    list.push_back({{"Sequence", {{"id", text}, {"type_id", 0}}}});
    if (vocabulary.add_eos) add(vocabulary.eos, list);
  };
  Json single = Json::array();
  frame("A", single);
  Json pair = single;
  frame("B", pair);
  return {{"type", "TemplateProcessing"},
          {"single", std::move(single)},
          {"pair", std::move(pair)},
          {"special_tokens", std::move(special)}};
}

}  // namespace attend
