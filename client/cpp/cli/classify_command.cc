#include <cstdio>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "client/cpp/cli/command_batches.h"
#include "client/cpp/cli/commands.h"
#include "client/cpp/lib/client.h"

namespace attend {
namespace {

absl::Status AddInput(bool pairs, const Line& line,
                      v1::ClassifyRequest& request) {
  const size_t tab = line.text.find('\t');
  if (pairs && tab == std::string::npos) {
    return absl::InvalidArgumentError("no tab between the texts of a pair");
  }
  v1::Input* const input = request.add_inputs();
  input->set_text(pairs ? line.text.substr(0, tab) : line.text);
  if (pairs) input->set_pair(line.text.substr(tab + 1));
  return absl::OkStatus();
}

// "LABEL<tab>0.98", more of them behind tabs.
std::string Labels(
    const google::protobuf::RepeatedPtrField<v1::LabelScore>& labels) {
  std::string text;
  for (const v1::LabelScore& label : labels) {
    absl::StrAppendFormat(&text, "%s%s\t%.6f", text.empty() ? "" : "\t",
                          label.label(), label.score());
  }
  return text;
}

// A line of labels; of tokens, a line of piece and labels for each, and an
// empty one.
std::string Format(const v1::ClassifyResult& result) {
  std::string text;
  for (const v1::TokenLabels& token : result.tokens()) {
    absl::StrAppend(&text, token.token().piece(), "\t", Labels(token.labels()),
                    "\n");
  }
  return absl::StrCat(text, Labels(result.labels()), "\n");
}

}  // namespace

int Run(const ClassifyOptions& options) {
  InputOptions input = options.input;
  if (options.pairs && input.arguments.size() == 2) {
    input.arguments = {
        absl::StrCat(input.arguments[0], "\t", input.arguments[1])};
  } else if (options.pairs && !input.arguments.empty()) {
    std::fprintf(stderr, "attend: --pairs takes TEXT and PAIR, got %zu\n",
                 input.arguments.size());
    return kExitUsage;
  }
  Client client(ToClientOptions(options.connection));
  BatchCall<v1::ClassifyRequest, v1::ClassifyResponse, v1::ClassifyResult>
      call = {
          .request = options.request,
          .add =
              [&](const Line& line, v1::ClassifyRequest& request) {
                return AddInput(options.pairs, line, request);
              },
          .call = [&](const auto& request) { return client.Classify(request); },
          .format =
              [&](const Line&, const v1::ClassifyResult& result) {
                return input.json ? ToJsonLine(result) : Format(result);
              }};
  call.request.set_model(options.connection.model);
  return ForEachBatch(input, call);
}

}  // namespace attend
