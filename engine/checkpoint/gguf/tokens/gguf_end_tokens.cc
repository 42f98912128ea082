#include "engine/checkpoint/gguf/tokens/gguf_end_tokens.h"

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "engine/tensor/status_macros.h"

namespace attend {
namespace {

constexpr absl::string_view kEndKeys[] = {"eos",     "eot",     "eom",
                                          "fim_pad", "fim_rep", "fim_sep"};

constexpr absl::string_view kEndTexts[] = {
    "<|eot_id|>", "<|im_end|>", "<|end|>", "<|return|>", "<|call|>",
    "<|flush|>", "<|calls|>", "<end_of_turn>", "<|endoftext|>", "</s>",
    "<|eom_id|>", "<EOT>", "_<EOT>", "[EOT]", "[EOS]", "<|end_of_text|>",
    "<end_of_utterance>", "<eos>", "<turn|>", "<|tool_response>",
    // Models of code end a file or a repository with these.
    "<|fim_pad|>", "<fim-pad>", "<fim_pad>", "<PAD>", "[PAD]", "<|fim_repo|>",
    "<|repo_name|>", "<fim-repo>", "<REPO>", "<reponame>", "<|file_sep|>"};

// Ids of the tokens whose text is one of kEndTexts.
using EndsByText = absl::flat_hash_map<absl::string_view, std::vector<int>>;

// The end tokens among the first `vocab` tokens of `tokens`, a list of texts.
EndsByText FindEnds(const nlohmann::json& tokens, int64_t vocab) {
  EndsByText ends;
  for (const absl::string_view text : kEndTexts) ends[text];
  const int64_t count = std::min(vocab, static_cast<int64_t>(tokens.size()));
  for (int id = 0; id < count; ++id) {
    const auto* const text = tokens[id].get_ptr<const std::string*>();
    if (text == nullptr) continue;
    const auto found = ends.find(*text);
    if (found != ends.end()) found->second.push_back(id);
  }
  return ends;
}

// Texts that end no generation in vocabularies that have certain other tokens:
// there they end a message, after which the same turn continues.
std::vector<absl::string_view> Exceptions(const EndsByText& ends) {
  const auto has = [&](absl::string_view text) {
    return !ends.at(text).empty();
  };
  std::vector<absl::string_view> exceptions;
  if ((has("<|call|>") || has("<|calls|>")) &&
      (has("<|return|>") || has("<|flush|>"))) {
    exceptions.push_back("<|end|>");
  }
  if (has("<|tool_response>")) exceptions.push_back("</s>");
  return exceptions;
}

}  // namespace

absl::StatusOr<std::vector<int>> GgufEndTokens(const JsonFile& metadata,
                                               int64_t vocab) {
  std::vector<int> ids;
  for (const absl::string_view key : kEndKeys) {
    const std::string name = absl::StrCat("tokenizer.ggml.", key, "_token_id");
    if (!metadata.Has(name)) continue;
    ASSIGN_OR_RETURN(const int64_t id, metadata.Int(name, {0, vocab - 1}));
    ids.push_back(static_cast<int>(id));
  }
  const nlohmann::json* const tokens = metadata.Find("tokenizer.ggml.tokens");
  if (tokens != nullptr && tokens->is_array()) {
    const EndsByText ends = FindEnds(*tokens, vocab);
    for (const absl::string_view text : kEndTexts) {
      const std::vector<int>& more = ends.at(text);
      ids.insert(ids.end(), more.begin(), more.end());
    }
    for (const absl::string_view text : Exceptions(ends)) {
      for (const int id : ends.at(text)) {
        ids.erase(std::remove(ids.begin(), ids.end(), id), ids.end());
      }
    }
  }
  std::vector<int> unique;
  for (const int id : ids) {
    if (std::find(unique.begin(), unique.end(), id) == unique.end()) {
      unique.push_back(id);
    }
  }
  return unique;
}

}  // namespace attend
