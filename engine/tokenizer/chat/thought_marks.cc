#include "engine/tokenizer/chat/thought_marks.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/strip.h"

namespace attend {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kThoughtFields[] = {"reasoning_content", "reasoning",
                                          "thinking", "thought"};
// Words that no template has.
constexpr absl::string_view kThoughtWord = "qzxthoughtmark7";
constexpr absl::string_view kAnswerWord = "qzxanswermark7";
// Longer texts, and those of several lines, are more than a mark.
constexpr size_t kMaxMarkBytes = 64;

Json Variables(const TemplateForms& forms, bool answered) {
  Json user = {{"role", "user"}, {"content", "a"}};
  forms.SetContent(user);
  Json messages = Json::array({std::move(user)});
  if (answered) {
    Json answer = {{"role", "assistant"}, {"content", kAnswerWord}};
    forms.SetContent(answer);
    for (const char* field : kThoughtFields) answer[field] = kThoughtWord;
    messages.push_back(std::move(answer));
  }
  return {{"messages", std::move(messages)},
          {"tools", nullptr},
          {"documents", nullptr},
          {"add_generation_prompt", !answered}};
}

// The marks in an answer, which begins with `text`; empty: it shows none.
ThoughtMarks MarksIn(absl::string_view text) {
  const size_t thought = text.find(kThoughtWord);
  if (thought == text.npos) return {};
  const size_t end = thought + kThoughtWord.size();
  const size_t answer = text.find(kAnswerWord, end);
  if (answer == text.npos) return {};
  const std::string marks[] = {
      std::string(absl::StripAsciiWhitespace(text.substr(0, thought))),
      std::string(absl::StripAsciiWhitespace(text.substr(end, answer - end)))};
  for (const std::string& mark : marks) {
    if (mark.empty() || mark.size() > kMaxMarkBytes ||
        absl::StrContains(mark, "\n")) {
      return {};
    }
  }
  return {marks[0], marks[1]};
}

}  // namespace

absl::Span<const ThoughtMarks> KnownThoughtMarks() {
  static const auto& marks = *new std::vector<ThoughtMarks>{
      {"<think>", "</think>"},  // DeepSeek, Qwen, SmolLM, GLM, Granite 3.3
      {"[THINK]", "[/THINK]"},  // Magistral, Ministral
      {"<thinking>", "</thinking>"},
      {"<reasoning>", "</reasoning>"},
      {"<thought>", "</thought>"},                              // EXAONE Deep
      {"<Thought>", "</Thought>"},                              // Marco-o1
      {"<seed:think>", "</seed:think>"},                        // Seed-OSS
      {"<longcat_think>", "</longcat_think>"},                  // LongCat
      {"<|START_THINKING|>", "<|END_THINKING|>"},               // Command
      {"<|begin_of_thought|>", "<|end_of_thought|>"},           // Sky-T1
      {"<|inner_prefix|>", "<|inner_suffix|>"},                 // Apertus
      {"<|channel>thought", "<channel|>"},                      // Gemma 4
      {"Here is my thought process:", "Here is my response:"},  // Granite 3.2
      {"Here are my reasoning steps:", "[BEGIN FINAL RESPONSE]"},  // Apriel
  };
  return marks;
}

ThoughtMarks FindThoughtMarks(
    absl::string_view source, const TemplateForms& forms,
    absl::FunctionRef<absl::StatusOr<std::string>(const Json& variables)>
        render) {
  for (const ThoughtMarks& marks : KnownThoughtMarks()) {
    if (absl::StrContains(source, marks.end)) return marks;
  }
  if (std::none_of(std::begin(kThoughtFields), std::end(kThoughtFields),
                   [&](const char* field) {
                     return absl::StrContains(source, field);
                   })) {
    return {};
  }
  const auto question = render(Variables(forms, /*answered=*/false));
  const auto answered = render(Variables(forms, /*answered=*/true));
  if (!question.ok() || !answered.ok()) return {};
  absl::string_view answer(*answered);
  return absl::ConsumePrefix(&answer, *question) ? MarksIn(answer)
                                                 : ThoughtMarks();
}

}  // namespace attend
