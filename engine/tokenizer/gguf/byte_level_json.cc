#include "engine/tokenizer/gguf/byte_level_json.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "engine/tensor/status_macros.h"
#include "engine/tokenizer/gguf/piece_json.h"
#include "engine/tokenizer/gguf/pre_tokenizers.h"

namespace attend {
namespace {

using Json = nlohmann::json;

Json ByteLevel() {
  return {{"type", "ByteLevel"},
          {"add_prefix_space", false},
          {"trim_offsets", true},
          {"use_regex", false}};
}

Json WordsJson(const PreTokenizer& words) {
  Json steps = Json::array();
  for (const char* split : words.splits) {
    if (split == nullptr) break;
    steps.push_back({{"type", "Split"},
                     {"pattern", {{"Regex", split}}},
                     {"behavior", "Isolated"},
                     {"invert", false}});
  }
  if (words.bytes) steps.push_back(ByteLevel());
  return {{"type", "Sequence"}, {"pretokenizers", std::move(steps)}};
}

Json ModelJson(const GgufVocabulary& vocabulary, bool whole_words) {
  Json vocab = Json::object();
  for (size_t id = 0; id < vocabulary.tokens.size(); ++id) {
    // Ids that the model has and the tokenizer has not.
    if (vocabulary.type(id) == GgufVocabulary::Type::kUnused) continue;
    vocab[vocabulary.tokens[id]] = id;
  }
  return {{"type", "BPE"},
          {"dropout", nullptr},
          {"unk_token", nullptr},
          {"continuing_subword_prefix", ""},
          {"end_of_word_suffix", ""},
          {"fuse_unk", false},
          {"byte_fallback", false},
          {"ignore_merges", whole_words},
          {"vocab", std::move(vocab)},
          {"merges", vocabulary.merges}};
}

}  // namespace

absl::StatusOr<Json> ByteLevelJson(const JsonFile& metadata,
                                   const GgufVocabulary& vocabulary) {
  const PreTokenizer* words = FindPreTokenizer(vocabulary.pre);
  if (words == nullptr) {
    return metadata.Unexpected("tokenizer.ggml.pre",
                               absl::StrCat("one of ", PreTokenizerNames()));
  }
  if (vocabulary.merges.empty()) {
    return metadata.Unexpected("tokenizer.ggml.merges", "a list of texts");
  }
  if (words->marks_spaces) {
    ASSIGN_OR_RETURN(Json json,
                     PieceJson(metadata, vocabulary, PieceSpaces::kNone));
    json["pre_tokenizer"] = WordsJson(*words);
    return json;
  }
  return Json{{"version", "1.0"},
              {"truncation", nullptr},
              {"padding", nullptr},
              {"added_tokens", AddedTokensJson(vocabulary)},
              {"normalizer", nullptr},
              {"pre_tokenizer", WordsJson(*words)},
              {"post_processor", PostProcessorJson(vocabulary)},
              {"decoder", words->bytes ? ByteLevel() : Json{{"type", "Fuse"}}},
              {"model", ModelJson(vocabulary, words->whole_words)}};
}

}  // namespace attend
