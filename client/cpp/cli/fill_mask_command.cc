#include <CLI/CLI.hpp>
#include <cmath>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "client/cpp/cli/batch_command.h"
#include "client/cpp/cli/command.h"
#include "client/cpp/cli/common_options.h"
#include "client/cpp/lib/client.h"

namespace attend {
namespace {

// The text with its masks filled in, or with --top-k a line for each candidate.
std::string FormatFillMask(bool candidates, const Line& line,
                           const v1::FillMaskResult& result) {
  if (!candidates) return absl::StrCat(result.text(), "\n");
  std::string text;
  for (int i = 0; i < result.masks_size(); ++i) {
    for (const v1::MaskCandidate& candidate : result.masks(i).candidates()) {
      absl::StrAppendFormat(&text, "%d\t%d\t%.6f\t%s\t%s\n", line.number, i + 1,
                            std::exp(candidate.token().log_prob()),
                            candidate.token().piece(), candidate.text());
    }
  }
  return text;
}

}  // namespace

Command AddFillMask(CLI::App& attend) {
  const auto options = std::make_shared<BatchOptions<v1::FillMaskRequest>>();
  CLI::App& command = *attend.add_subcommand(
      "fill-mask", "Print each text with its masks replaced");
  command.footer(
      std::string(
          "A mask is spelled as in the model's vocabulary: attend models NAME "
          "shows mask_token.\nWith --top-k a line has, separated by tabs: "
          "number of the input, number of the mask,\nprobability, piece, and "
          "the text if there is one mask.\n") +
      kFailedInputs);
  AddInput(command, options->input, "Texts with masks");
  v1::FillMaskRequest& request = options->request;
  command
      .add_option_function<int32_t>(
          "-k,--top-k", [&](int32_t n) { request.set_top_k(n); },
          "Number of candidates to print for each mask")
      ->check(CLI::Range(1, 100));
  AddBatching(command, *options);
  return {&command, [options] {
            const bool candidates = options->request.top_k() > 0;
            return RunBatches(
                *options, &Client::FillMask, AddText<v1::FillMaskRequest>,
                [=](const Line& line, const v1::FillMaskResult& result) {
                  return FormatFillMask(candidates, line, result);
                });
          }};
}

}  // namespace attend
