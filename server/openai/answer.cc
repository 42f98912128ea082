#include "server/openai/answer.h"

#include <algorithm>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "engine/json/utf8.h"

namespace attend {
namespace {

// JSON has no infinity. This is what OpenAI writes for it.
constexpr float kLeastLogProb = -9999;

float Finite(float log_prob) { return std::max(log_prob, kLeastLogProb); }

Json TokenJson(const v1::TokenLogProb& token, const Tokenizer& tokenizer) {
  const std::string text = TokenString(tokenizer, token.id());
  Json bytes = Json::array();
  for (const unsigned char byte : text) bytes.push_back(int{byte});
  return {{"token", text},
          {"logprob", Finite(token.log_prob())},
          {"bytes", std::move(bytes)}};
}

// A token as completions name it: a part of a character by its bytes, as
// OpenAI does, so that each such token has a name of its own.
std::string CompletionToken(const std::string& text) {
  return FindInvalidUtf8(text) == text.npos
             ? text
             : absl::StrCat("bytes:", absl::CHexEscape(text));
}

// Bytes that begin a character.
size_t CountCharacters(absl::string_view text) {
  return std::count_if(text.begin(), text.end(),
                       [](char c) { return (c & 0xc0) != 0x80; });
}

}  // namespace

AnswerFrame AnswerFrame::New(absl::string_view prefix,
                             absl::string_view request_id,
                             absl::string_view model) {
  return {.id = absl::StrCat(prefix, request_id),
          .created = absl::ToUnixSeconds(absl::Now()),
          .model = std::string(model)};
}

Json AnswerFrame::ToJson(absl::string_view object) const {
  return {{"id", id},
          {"object", std::string(object)},
          {"created", created},
          {"model", model}};
}

Json UsageJson(int prompt_tokens, int completion_tokens) {
  return {{"prompt_tokens", prompt_tokens},
          {"completion_tokens", completion_tokens},
          {"total_tokens", prompt_tokens + completion_tokens}};
}

std::string Event(const Json& json) {
  return absl::StrCat("data: ", DumpJson(json), "\n\n");
}

Json FinishReasonJson(v1::FinishReason reason) {
  switch (reason) {
    case v1::FINISH_REASON_EOS:
    case v1::FINISH_REASON_STOP_SEQUENCE:
      return "stop";
    case v1::FINISH_REASON_MAX_LENGTH:
      return "length";
    default:
      return nullptr;
  }
}

std::string TokenString(const Tokenizer& tokenizer, int id) {
  return std::string(tokenizer.IsSpecial(id, Side::kTarget)
                         ? tokenizer.Piece(id, Side::kTarget)
                         : tokenizer.TokenText(id));
}

Json ChatLogProbs(const LogProbs& tokens, const Tokenizer& tokenizer) {
  Json list = Json::array();
  for (const v1::TokenLogProbs& token : tokens) {
    Json entry = TokenJson(token.token(), tokenizer);
    Json top = Json::array();
    for (const v1::TokenLogProb& other : token.top()) {
      top.push_back(TokenJson(other, tokenizer));
    }
    entry["top_logprobs"] = std::move(top);
    list.push_back(std::move(entry));
  }
  return list;
}

void CompletionLogProbs::AddPrompt(const LogProbs& tokens) {
  bool first = true;
  for (const v1::TokenLogProbs& token : tokens) {
    AddToken(token, /*known=*/!std::exchange(first, false));
  }
}

void CompletionLogProbs::Add(const LogProbs& tokens) {
  for (const v1::TokenLogProbs& token : tokens) AddToken(token, /*known=*/true);
}

void CompletionLogProbs::AddToken(const v1::TokenLogProbs& token, bool known) {
  const std::string text = TokenString(tokenizer_, token.token().id());
  const std::string name = CompletionToken(text);
  tokens_.push_back(name);
  text_offset_.push_back(offset_);
  offset_ += CountCharacters(text);
  if (!known) {
    token_logprobs_.push_back(nullptr);
    top_logprobs_.push_back(nullptr);
    return;
  }
  token_logprobs_.push_back(Finite(token.token().log_prob()));
  // The token itself is always among them.
  Json top = Json::object();
  for (const v1::TokenLogProb& other : token.top()) {
    top[CompletionToken(TokenString(tokenizer_, other.id()))] =
        Finite(other.log_prob());
  }
  top[name] = Finite(token.token().log_prob());
  top_logprobs_.push_back(std::move(top));
}

Json CompletionLogProbs::ToJson() && {
  return {{"tokens", std::move(tokens_)},
          {"token_logprobs", std::move(token_logprobs_)},
          {"top_logprobs", std::move(top_logprobs_)},
          {"text_offset", std::move(text_offset_)}};
}

}  // namespace attend
