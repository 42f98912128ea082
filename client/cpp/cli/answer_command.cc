#include <CLI/CLI.hpp>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/strings/str_format.h"
#include "client/cpp/cli/batch_command.h"
#include "client/cpp/cli/command.h"
#include "client/cpp/cli/common_options.h"
#include "client/cpp/lib/client.h"

namespace attend {
namespace {

struct AnswerOptions : BatchOptions<v1::AnswerRequest> {
  std::string question;
};

// "0.98<tab>17<tab>23<tab>the text" for each answer, then an empty line if
// several were asked for.
std::string FormatAnswers(const v1::AnswerResult& result, bool several) {
  std::string text;
  for (const v1::TextAnswer& answer : result.answers()) {
    absl::StrAppendFormat(&text, "%.6f\t%d\t%d\t%s\n", answer.score(),
                          answer.begin(), answer.end(), answer.text());
  }
  if (several || text.empty()) text += "\n";
  return text;
}

int RunAnswer(const AnswerOptions& options) {
  const bool several = options.request.top_k() > 1;
  return RunBatches(
      options, &Client::Answer,
      [&](const Line& line, v1::AnswerRequest& request) {
        v1::Question& question = *request.add_questions();
        question.set_question(options.question);
        question.set_context(line.text);
        return absl::OkStatus();
      },
      [several](const Line&, const v1::AnswerResult& result) {
        return FormatAnswers(result, several);
      });
}

}  // namespace

Command AddAnswer(CLI::App& attend) {
  const auto options = std::make_shared<AnswerOptions>();
  CLI::App& command = *attend.add_subcommand(
      "answer", "Print the span of each text that answers a question");
  command.footer(
      std::string("Texts are arguments, or the lines of a file or of standard "
                  "input.\nA line has, separated by tabs: score, begin and end "
                  "in bytes of the text, answer.\nWith --top-k an empty line "
                  "ends a text.\n") +
      kFailedInputs);
  command.add_option("question", options->question, "The question")->required();
  AddInput(command, options->input, "Texts that may contain the answer");
  v1::AnswerRequest& request = options->request;
  command
      .add_option_function<int32_t>(
          "-k,--top-k", [&](int32_t n) { request.set_top_k(n); },
          "Number of answers to print, best first (default: 1)")
      ->check(CLI::Range(1, 100));
  command
      .add_option_function<int32_t>(
          "--max-answer-tokens",
          [&](int32_t n) { request.set_max_answer_tokens(n); },
          "Maximum number of tokens of an answer (default: 15)")
      ->check(CLI::Range(1, 1000));
  command.add_flag_function(
      "--no-answer", [&](int64_t) { request.set_allow_no_answer(true); },
      "Allow \"there is no answer\", printed as an answer without text");
  AddBatching(command, *options);
  return {&command, [options] { return RunAnswer(*options); }};
}

}  // namespace attend
