#include "client/cpp/cli/generation_options.h"

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>
#include <vector>

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
      "New tokens at most, end of sequence included");
  app.add_option_function<int32_t>(
      "--min-new-tokens", [=](int32_t n) { params->set_min_new_tokens(n); },
      "No end of sequence before so many new tokens");
}

void AddBeams(CLI::App& app, v1::GenerationParams* params) {
  app.add_option_function<int32_t>(
      "-b,--beams", [=](int32_t n) { params->set_num_beams(n); },
      "Beams; 1: greedy, or sampling");
  app.add_option_function<float>(
      "--length-penalty", [=](float x) { params->set_length_penalty(x); },
      "Beam scores are divided by length ^ this");
  app.add_option_function<std::string>(
         "--early-stopping",
         [=](const std::string& mode) {
           params->set_early_stopping(mode == "true" ? v1::EARLY_STOPPING_TRUE
                                      : mode == "false"
                                          ? v1::EARLY_STOPPING_FALSE
                                          : v1::EARLY_STOPPING_NEVER);
         },
         "When beam search ends: as soon as there are --beams results (true), "
         "when the best running beam cannot beat them (false), or when none "
         "can at any length (never)")
      ->check(CLI::IsMember({"true", "false", "never"}));
}

void AddSampling(CLI::App& app, v1::GenerationParams* params) {
  app.add_flag_function(
      "--sample", [=](int64_t) { params->set_do_sample(true); },
      "Sample instead of taking the best token");
  app.add_option_function<float>(
      "--temperature", [=](float x) { params->set_temperature(x); },
      "Of sampling; below 1: closer to the best token");
  app.add_option_function<int32_t>(
      "--top-k", [=](int32_t n) { params->set_top_k(n); },
      "Sample from the n likeliest tokens; 0: from all");
  app.add_option_function<float>(
      "--top-p", [=](float x) { params->set_top_p(x); },
      "Sample from the likeliest tokens that make up this probability");
  app.add_option_function<float>(
      "--min-p", [=](float x) { params->set_min_p(x); },
      "Sample from tokens at least this times as likely as the likeliest");
  app.add_option_function<uint64_t>(
      "--seed", [=](uint64_t n) { params->set_seed(n); },
      "Of sampling; default: drawn by the server");
}

void AddPenalties(CLI::App& app, v1::GenerationParams* params) {
  app.add_option_function<float>(
      "--repetition-penalty",
      [=](float x) { params->set_repetition_penalty(x); },
      "Above 1: tokens that came before become less likely");
  app.add_option_function<float>(
      "--presence-penalty", [=](float x) { params->set_presence_penalty(x); },
      "Taken from the logit of each token that came before");
  app.add_option_function<float>(
      "--frequency-penalty", [=](float x) { params->set_frequency_penalty(x); },
      "Taken from a token's logit each time that it came before");
  app.add_option_function<int32_t>(
      "--no-repeat-ngram",
      [=](int32_t n) { params->set_no_repeat_ngram_size(n); },
      "No sequence of so many tokens comes twice");
}

void AddContent(CLI::App& app, v1::GenerationParams* params) {
  app.add_option_function<std::string>(
      "--prefix",
      [=](const std::string& text) { params->set_prefix_text(text); },
      "Text that the result starts with; it is not printed");
  AddRepeated<std::string>(
      app, "--stop", "End where this comes up in the result; may be repeated",
      [=](const std::string& text) { params->add_stop_strings(text); });
  AddRepeated<int32_t>(app, "--stop-id",
                       "End at this token id; may be repeated",
                       [=](int32_t id) { params->add_stop_ids(id); });
  AddRepeated<int32_t>(
      app, "--bad-id", "Never generate this token id; may be repeated",
      [=](int32_t id) { params->add_bad_words()->add_ids(id); });
}

void AddLanguages(CLI::App& app, v1::GenerateRequest& request) {
  app.add_option_function<std::string>(
      "--source-language",
      [&](const std::string& code) { request.set_source_language(code); },
      "Of multilingual models: the language of the inputs, as the model calls "
      "it");
  app.add_option_function<std::string>(
      "--target-language",
      [&](const std::string& code) { request.set_target_language(code); },
      "The language of the results");
}

}  // namespace attend
