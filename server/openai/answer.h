#ifndef ATTEND_SERVER_OPENAI_ANSWER_H_
#define ATTEND_SERVER_OPENAI_ANSWER_H_

#include <google/protobuf/repeated_field.h>

#include <cstddef>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "attend/v1/attend.pb.h"
#include "engine/tokenizer/text/tokenizer.h"
#include "server/http_call/json_value.h"

namespace attend {

// What OpenAI's answers are made of.

// The members that all answers of a call begin with.
struct AnswerFrame {
  std::string id;
  int64_t created = 0;  // Unix seconds
  std::string model;

  // A frame of a call that comes now. `prefix` is that of the id: "chatcmpl-".
  static AnswerFrame New(absl::string_view prefix, absl::string_view request_id,
                         absl::string_view model);
  Json ToJson(absl::string_view object) const;
};

// {"prompt_tokens", "completion_tokens", "total_tokens"}
Json UsageJson(int prompt_tokens, int completion_tokens);

// An event of a stream.
std::string Event(const Json& json);
inline constexpr absl::string_view kLastEvent = "data: [DONE]\n\n";
// A line that clients skip (HTML, 9.2.6). No empty line follows: openai-go and
// older versions of OpenAI's Python package would take it for the end of an
// event without data.
inline constexpr absl::string_view kEventComment = ": keep-alive\n";

// "stop", "length", or null as long as a choice has not ended.
Json FinishReasonJson(v1::FinishReason reason);

using LogProbs = google::protobuf::RepeatedPtrField<v1::TokenLogProbs>;

// The text of a token. Special tokens are written as the vocabulary has them.
// It need not be UTF-8.
std::string TokenString(const Tokenizer& tokenizer, int id);

// The log-probabilities of tokens as chat has them: a list of {"token",
// "logprob", "bytes", "top_logprobs"}.
Json ChatLogProbs(const LogProbs& tokens, const Tokenizer& tokenizer);

// As completions have them: lists of tokens, log-probabilities, alternatives
// and places, to which tokens are added one by one.
class CompletionLogProbs {
 public:
  // `offset`: the characters of the choice before its first token here.
  CompletionLogProbs(const Tokenizer& tokenizer, size_t offset)
      : tokenizer_(tokenizer), offset_(offset) {}

  // Tokens of a prompt: nothing comes before the first one, so it has no
  // log-probability.
  void AddPrompt(const LogProbs& tokens);
  void Add(const LogProbs& tokens);

  size_t offset() const { return offset_; }
  Json ToJson() &&;

 private:
  void AddToken(const v1::TokenLogProbs& token, bool known);

  const Tokenizer& tokenizer_;
  size_t offset_;
  Json tokens_ = Json::array(), token_logprobs_ = Json::array(),
       top_logprobs_ = Json::array(), text_offset_ = Json::array();
};

}  // namespace attend

#endif  // ATTEND_SERVER_OPENAI_ANSWER_H_
