#include <CLI/CLI.hpp>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "client/cpp/cli/batch_command.h"
#include "client/cpp/cli/command.h"
#include "client/cpp/cli/common_options.h"
#include "client/cpp/cli/input_lines.h"
#include "client/cpp/lib/client.h"

namespace attend {
namespace {

struct ClassifyOptions : BatchOptions<v1::ClassifyRequest> {
  bool pairs = false;
};

absl::Status AddPair(const Line& line, v1::ClassifyRequest& request) {
  const size_t tab = line.text.find('\t');
  if (tab == std::string::npos) {
    return absl::InvalidArgumentError("no tab between the texts of a pair");
  }
  v1::Input* const input = request.add_inputs();
  input->set_text(line.text.substr(0, tab));
  input->set_pair(line.text.substr(tab + 1));
  return absl::OkStatus();
}

// "LABEL<tab>0.98<tab>LABEL<tab>0.01 ...".
std::string Labels(
    const google::protobuf::RepeatedPtrField<v1::LabelScore>& labels) {
  std::string text;
  for (const v1::LabelScore& label : labels) {
    absl::StrAppendFormat(&text, "%s%s\t%.6f", text.empty() ? "" : "\t",
                          label.label(), label.score());
  }
  return text;
}

// One line of labels. For a model that labels tokens: a line with piece and
// labels for each token, or with label, score, place and text of each span,
// then an empty line.
std::string FormatClassify(const Line&, const v1::ClassifyResult& result) {
  std::string text;
  for (const v1::LabelSpan& span : result.spans()) {
    absl::StrAppendFormat(&text, "%s\t%.6f\t%d\t%d\t%s\n", span.label(),
                          span.score(), span.begin(), span.end(), span.text());
  }
  for (const v1::TokenLabels& token : result.tokens()) {
    absl::StrAppend(&text, token.token().piece(), "\t", Labels(token.labels()),
                    "\n");
  }
  return absl::StrCat(text, Labels(result.labels()), "\n");
}

int RunClassify(ClassifyOptions options) {
  if (options.pairs && !JoinPair(options.input.arguments)) {
    std::fprintf(stderr, "attend: --pairs takes TEXT and PAIR, got %zu\n",
                 options.input.arguments.size());
    return kExitUsage;
  }
  return RunBatches(options, &Client::Classify,
                    options.pairs ? AddPair : AddText<v1::ClassifyRequest>,
                    FormatClassify);
}

void AddSpanOptions(CLI::App& command, v1::ClassifyRequest& request) {
  command
      .add_option_function<std::string>(
          "--spans",
          [&](const std::string& name) {
            v1::Aggregation aggregation = v1::AGGREGATION_UNSPECIFIED;
            v1::Aggregation_Parse(
                absl::StrCat("AGGREGATION_", absl::AsciiStrToUpper(name)),
                &aggregation);
            request.set_aggregation(aggregation);
          },
          "Print labels of spans instead of tokens, by an aggregation_strategy "
          "of transformers")
      ->check(CLI::IsMember(std::vector<std::string>{"none", "simple", "first",
                                                     "average", "max"}));
  command
      .add_option_function<std::vector<std::string>>(
          "--ignore",
          [&](const std::vector<std::string>& labels) {
            request.mutable_ignore_labels()->Assign(labels.begin(),
                                                    labels.end());
          },
          "With --spans: omit spans with this label (default: O; an empty "
          "label: omit none)")
      ->allow_extra_args(false);
  command
      .add_option_function<int32_t>(
          "--stride", [&](int32_t tokens) { request.set_stride(tokens); },
          "With --spans: read long texts in windows that overlap by this "
          "number of tokens")
      ->check(CLI::NonNegativeNumber);
}

void AddCandidateOptions(CLI::App& command, v1::ClassifyRequest& request) {
  command
      .add_option_function<std::vector<std::string>>(
          "--label",
          [&](const std::vector<std::string>& labels) {
            request.mutable_candidate_labels()->Assign(labels.begin(),
                                                       labels.end());
          },
          "Score this label instead of those of the model; may be repeated "
          "(zero-shot classification, or multiple choice)")
      ->allow_extra_args(false);
  command.add_option_function<std::string>(
      "--template",
      [&](const std::string& text) { request.set_hypothesis_template(text); },
      "With --label: the hypothesis, with {} in place of the label (default: "
      "'This example is {}.')");
  command.add_flag_function(
      "--multi-label", [&](int64_t) { request.set_multi_label(true); },
      "With --label: any number of labels may be true");
}

}  // namespace

Command AddClassify(CLI::App& attend) {
  const auto options = std::make_shared<ClassifyOptions>();
  CLI::App& command = *attend.add_subcommand(
      "classify", "Print the labels of each input, or of each of its tokens");
  command.footer(
      std::string(
          "A line has, separated by tabs, the labels of a text: label, score, "
          "next label, ...\nIf the model labels tokens, a line has piece, "
          "label and score of a token; with\n--spans label, score, begin and "
          "end in bytes, and text of a span. An empty\nline ends an input.\n") +
      kFailedInputs);
  AddInput(command, options->input, "Texts; with --pairs, TEXT PAIR");
  v1::ClassifyRequest& request = options->request;
  command.add_flag("--pairs", options->pairs,
                   "Inputs are pairs of texts; lines: text, tab, text");
  command
      .add_option_function<int32_t>(
          "-k,--top-k", [&](int32_t n) { request.set_top_k(n); },
          "Number of labels to print, best first (default: all labels of a "
          "text, the best one of a token)")
      ->check(CLI::Range(1, 1000000));
  command.add_flag_function(
      "--raw", [&](int64_t) { request.set_raw_scores(true); },
      "Print scores without softmax or sigmoid");
  AddSpanOptions(command, request);
  AddCandidateOptions(command, request);
  AddBatching(command, *options);
  return {&command, [options] { return RunClassify(*options); }};
}

}  // namespace attend
