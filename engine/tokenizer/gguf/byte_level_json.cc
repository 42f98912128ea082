#include "engine/tokenizer/gguf/byte_level_json.h"

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "engine/tensor/status_macros.h"

namespace attend {
namespace {

using Json = nlohmann::json;

// What is a word, as a regular expression: that of Llama 3, of Qwen2, of
// Mistral's Tekken, and of GPT-4o.
constexpr char kLlama3[] =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3})"
    R"(| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr char kQwen2[] =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N})"
    R"(| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr char kTekken[] =
    R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*)"
    R"([\p{Ll}\p{Lm}\p{Lo}\p{M}]+)"
    R"(|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+)"
    R"([\p{Ll}\p{Lm}\p{Lo}\p{M}]*)"
    R"(|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr char kGpt4o[] =
    R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*)"
    R"([\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?)"
    R"(|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+)"
    R"([\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?)"
    R"(|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)";

struct Words {
  const char* split = nullptr;  // null: GPT-2's words
  bool single_digits = false;
  bool whole_words = false;  // a word that is a token is not cut
};
constexpr Words kOfGpt2 = {};
constexpr Words kOfStarcoder = {.single_digits = true};
constexpr Words kOfLlama3 = {.split = kLlama3, .whole_words = true};
constexpr Words kOfDbrx = {.split = kLlama3};
constexpr Words kOfQwen2 = {.split = kQwen2};
constexpr Words kOfTekken = {.split = kTekken, .whole_words = true};
constexpr Words kOfGpt4o = {.split = kGpt4o};

struct PreTokenizer {
  absl::string_view name;  // tokenizer.ggml.pre
  Words words;
};
// A file that says nothing has GPT-2's words.
constexpr PreTokenizer kPreTokenizers[] = {
    {"", kOfGpt2},
    {"default", kOfGpt2},
    {"gpt-2", kOfGpt2},
    {"mpt", kOfGpt2},
    {"olmo", kOfGpt2},
    {"phi-2", kOfGpt2},
    {"trillion", kOfGpt2},
    {"exaone4", kOfGpt2},
    {"smollm", kOfStarcoder},
    {"starcoder", kOfStarcoder},
    {"refact", kOfStarcoder},
    {"command-r", kOfStarcoder},
    {"llama3", kOfLlama3},
    {"llama-v3", kOfLlama3},
    {"llama-bpe", kOfLlama3},
    {"falcon3", kOfLlama3},
    {"pixtral", kOfLlama3},
    {"dbrx", kOfDbrx},
    {"smaug-bpe", kOfDbrx},
    {"qwen2", kOfQwen2},
    {"deepseek-r1-qwen", kOfQwen2},
    {"megrez", kOfQwen2},
    {"tekken", kOfTekken},
    {"gpt-4o", kOfGpt4o},
    {"llama4", kOfGpt4o},
};

absl::StatusOr<Words> WordsOf(const JsonFile& metadata,
                              const GgufVocabulary& vocabulary) {
  std::vector<absl::string_view> names;
  for (const PreTokenizer& known : kPreTokenizers) {
    if (known.name == vocabulary.pre) return known.words;
    if (!known.name.empty()) names.push_back(known.name);
  }
  return metadata.Unexpected(
      "tokenizer.ggml.pre",
      absl::StrCat("one of ", absl::StrJoin(names, ", ")));
}

Json ByteLevel(bool cuts_words) {
  return {{"type", "ByteLevel"},
          {"add_prefix_space", false},
          {"trim_offsets", true},
          {"use_regex", cuts_words}};
}

Json WordsJson(const Words& words) {
  Json steps = Json::array();
  if (words.single_digits) {
    steps.push_back({{"type", "Digits"}, {"individual_digits", true}});
  }
  if (words.split != nullptr) {
    steps.push_back({{"type", "Split"},
                     {"pattern", {{"Regex", words.split}}},
                     {"behavior", "Isolated"},
                     {"invert", false}});
  }
  steps.push_back(ByteLevel(words.split == nullptr));
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
  ASSIGN_OR_RETURN(const Words words, WordsOf(metadata, vocabulary));
  if (vocabulary.merges.empty()) {
    return metadata.Unexpected("tokenizer.ggml.merges", "a list of texts");
  }
  return Json{{"version", "1.0"},
              {"truncation", nullptr},
              {"padding", nullptr},
              {"added_tokens", AddedTokensJson(vocabulary)},
              {"normalizer", nullptr},
              {"pre_tokenizer", WordsJson(words)},
              {"post_processor", PostProcessorJson(vocabulary)},
              {"decoder", ByteLevel(true)},
              {"model", ModelJson(vocabulary, words.whole_words)}};
}

}  // namespace attend
