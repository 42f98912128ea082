#include "client/cpp/cli/generation_options.h"

#include <CLI/CLI.hpp>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"

namespace attend {
namespace {

// An option that may be given many times, with one value each time.
template <typename T, typename Add>
void AddRepeated(CLI::App& app, const char* name, const char* help, Add add) {
  app.add_option_function<std::vector<T>>(
         name,
         [add](const std::vector<T>& values) {
           for (const T& value : values) add(value);
         },
         help)
      ->allow_extra_args(false);
}

}  // namespace

void AddLength(CLI::App& app, v1::GenerationParams* params) {
  app.add_option_function<int32_t>(
      "--max-new-tokens", [=](int32_t n) { params->set_max_new_tokens(n); },
      "Maximum number of new tokens, end of sequence included");
  app.add_option_function<int32_t>(
      "--min-new-tokens", [=](int32_t n) { params->set_min_new_tokens(n); },
      "Minimum number of new tokens before an end of sequence");
}

void AddBeams(CLI::App& app, v1::GenerationParams* params) {
  app.add_option_function<int32_t>(
      "-b,--beams", [=](int32_t n) { params->set_num_beams(n); },
      "Number of beams; 1: greedy search, or sampling");
  app.add_option_function<float>(
      "--length-penalty", [=](float x) { params->set_length_penalty(x); },
      "Divide scores of beams by their length to this power");
  app.add_option_function<std::string>(
         "--early-stopping",
         [=](const std::string& mode) {
           params->set_early_stopping(mode == "true" ? v1::EARLY_STOPPING_TRUE
                                      : mode == "false"
                                          ? v1::EARLY_STOPPING_FALSE
                                          : v1::EARLY_STOPPING_NEVER);
         },
         "End of a beam search. true: there are --beams results. false: the "
         "best running beam cannot beat them. never: no beam can beat them at "
         "any length")
      ->check(CLI::IsMember({"true", "false", "never"}));
}

void AddSampling(CLI::App& app, v1::GenerationParams* params) {
  app.add_flag_function(
      "--sample", [=](int64_t) { params->set_do_sample(true); },
      "Sample tokens instead of choosing the likeliest one");
  app.add_option_function<float>(
      "--temperature", [=](float x) { params->set_temperature(x); },
      "Sampling temperature; below 1: likely tokens become likelier");
  app.add_option_function<int32_t>(
      "--top-k", [=](int32_t n) { params->set_top_k(n); },
      "Sample from this number of likeliest tokens; 0: from all");
  app.add_option_function<float>(
      "--top-p", [=](float x) { params->set_top_p(x); },
      "Sample from the smallest set of likeliest tokens with this total "
      "probability");
  app.add_option_function<float>(
      "--min-p", [=](float x) { params->set_min_p(x); },
      "Sample from tokens with at least this fraction of the highest "
      "probability");
  app.add_option_function<uint64_t>(
      "--seed", [=](uint64_t n) { params->set_seed(n); },
      "Sampling seed (default: drawn by the server)");
}

void AddPenalties(CLI::App& app, v1::GenerationParams* params) {
  app.add_option_function<float>(
      "--repetition-penalty",
      [=](float x) { params->set_repetition_penalty(x); },
      "Above 1: tokens that have occurred become less likely");
  app.add_option_function<float>(
      "--presence-penalty", [=](float x) { params->set_presence_penalty(x); },
      "Subtracted from the logit of each token that has occurred");
  app.add_option_function<float>(
      "--frequency-penalty", [=](float x) { params->set_frequency_penalty(x); },
      "Subtracted from a token's logit once for each of its occurrences");
  app.add_option_function<int32_t>(
      "--no-repeat-ngram",
      [=](int32_t n) { params->set_no_repeat_ngram_size(n); },
      "No token sequence of this length occurs twice; 0: no limit");
}

void AddContent(CLI::App& app, v1::GenerationParams* params) {
  app.add_option_function<std::string>(
      "--prefix",
      [=](const std::string& text) { params->set_prefix_text(text); },
      "Text that results must start with; it is not printed");
  AddRepeated<std::string>(
      app, "--stop", "A result ends before this text; may be repeated",
      [=](const std::string& text) { params->add_stop_strings(text); });
  AddRepeated<int32_t>(app, "--stop-id",
                       "A result ends at this token id; may be repeated",
                       [=](int32_t id) { params->add_stop_ids(id); });
  AddRepeated<int32_t>(
      app, "--bad-id", "No result has this token id; may be repeated",
      [=](int32_t id) { params->add_bad_words()->add_ids(id); });
  AddRepeated<int32_t>(
      app, "--force-id",
      "Each result of a beam search has this token id; may be repeated",
      [=](int32_t id) {
        params->add_force_words()->add_alternatives()->add_ids(id);
      });
  AddRepeated<std::string>(
      app, "--logit-bias",
      "ID=BIAS: added to the logit of a token id; may be repeated",
      [=](const std::string& text) {
        const std::pair<absl::string_view, absl::string_view> parts =
            absl::StrSplit(text, absl::MaxSplits('=', 1));
        int32_t id = 0;
        float bias = 0;
        if (!absl::SimpleAtoi(parts.first, &id) ||
            !absl::SimpleAtof(parts.second, &bias)) {
          throw CLI::ValidationError("--logit-bias",
                                     text + " is not ID=BIAS, as 5=-1.5");
        }
        (*params->mutable_logit_bias())[id] = bias;
      });
}

void AddConstraint(CLI::App& app, v1::GenerationParams* params) {
  CLI::Option_group& group = *app.add_option_group(
      "Constraint", "A restriction of the text of a result; one of:");
  group.require_option(0, 1);
  const auto add_file = [&](const char* name, const char* help, auto set) {
    group
        .add_option_function<std::string>(
            name,
            [set](const std::string& path) {
              std::ifstream file(path, std::ios::binary);
              set(std::string(std::istreambuf_iterator<char>(file), {}));
            },
            help)
        ->check(CLI::ExistingFile);
  };
  add_file("--json-schema", "JSON that the JSON schema in this file allows",
           [=](std::string text) {
             params->mutable_constraint()->set_json_schema(std::move(text));
           });
  add_file("--grammar", "A text of the Lark grammar in this file",
           [=](std::string text) {
             params->mutable_constraint()->set_lark(std::move(text));
           });
  group.add_option_function<std::string>(
      "--regex",
      [=](const std::string& text) {
        params->mutable_constraint()->set_regex(text);
      },
      "A text that fully matches this regular expression");
  AddRepeated<std::string>(
      group, "--choice", "This text; may be repeated for more texts",
      [=](const std::string& text) {
        params->mutable_constraint()->mutable_choices()->add_texts(text);
      });
  group.add_flag_function(
      "--json-object",
      [=](int64_t) { params->mutable_constraint()->mutable_json_object(); },
      "Any JSON object");
}

void AddLanguages(CLI::App& app, v1::GenerateRequest& request) {
  app.add_option_function<std::string>(
      "--source-language",
      [&](const std::string& code) { request.set_source_language(code); },
      "For multilingual models: the language of the inputs, in the model's "
      "spelling");
  app.add_option_function<std::string>(
      "--target-language",
      [&](const std::string& code) { request.set_target_language(code); },
      "For multilingual models: the language of the results");
}

}  // namespace attend
