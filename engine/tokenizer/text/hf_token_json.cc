#include "engine/tokenizer/text/hf_token_json.h"

#include "absl/strings/string_view.h"
#include "engine/tensor/status_macros.h"

namespace attend {

absl::StatusOr<HfConfig::Token> ReadToken(const JsonFile& file, const char* key,
                                          const nlohmann::json& value) {
  HfConfig::Token token;
  if (value.is_string()) {
    token.content = value.get<std::string>();
    return token;
  }
  if (!value.is_object() || !value.contains("content")) {
    return file.Unexpected(key, "a token");
  }
  ASSIGN_OR_RETURN(const JsonFile said, file.ObjectAt(key, value));
  ASSIGN_OR_RETURN(token.content, said.StringOr("content", ""));
  token.special = key != absl::string_view("added_tokens_decoder");
  ASSIGN_OR_RETURN(token.special, said.BoolOr("special", token.special));
  ASSIGN_OR_RETURN(token.single_word, said.BoolOr("single_word", false));
  ASSIGN_OR_RETURN(token.lstrip, said.BoolOr("lstrip", false));
  ASSIGN_OR_RETURN(token.rstrip, said.BoolOr("rstrip", false));
  ASSIGN_OR_RETURN(token.normalized, said.BoolOr("normalized", !token.special));
  return token;
}

std::string ToJson(const std::vector<HfConfig::Token>& tokens) {
  nlohmann::json list = nlohmann::json::array();
  for (const HfConfig::Token& token : tokens) {
    list.push_back({{"content", token.content},
                    {"single_word", token.single_word},
                    {"lstrip", token.lstrip},
                    {"rstrip", token.rstrip},
                    {"normalized", token.normalized},
                    {"special", token.special}});
  }
  return list.dump();
}

}  // namespace attend
