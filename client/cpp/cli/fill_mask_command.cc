#include <cmath>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "client/cpp/cli/command_batches.h"
#include "client/cpp/cli/commands.h"
#include "client/cpp/lib/client.h"

namespace attend {
namespace {

// The text filled in; if candidates were asked for, a line for each of them.
std::string Format(const FillMaskOptions& options, const Line& line,
                   const v1::FillMaskResult& result) {
  if (options.input.json) return ToJsonLine(result);
  if (options.request.top_k() == 0) return absl::StrCat(result.text(), "\n");
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

int Run(const FillMaskOptions& options) {
  Client client(ToClientOptions(options.connection));
  BatchCall<v1::FillMaskRequest, v1::FillMaskResponse, v1::FillMaskResult>
      call = {
          .request = options.request,
          .add =
              [](const Line& line, v1::FillMaskRequest& request) {
                request.add_inputs()->set_text(line.text);
                return absl::OkStatus();
              },
          .call = [&](const auto& request) { return client.FillMask(request); },
          .format =
              [&](const Line& line, const v1::FillMaskResult& result) {
                return Format(options, line, result);
              }};
  call.request.set_model(options.connection.model);
  return ForEachBatch(options.input, call);
}

}  // namespace attend
