#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/types/span.h"
#include "client/cpp/cli/command_batches.h"
#include "client/cpp/cli/commands.h"
#include "client/cpp/lib/client.h"

namespace attend {
namespace {

std::string Numbers(absl::Span<const float> values) {
  return absl::StrCat(absl::StrJoin(values, " "), "\n");
}

// A line of numbers; of tokens, a line of piece and numbers for each, and an
// empty one.
std::string Format(const v1::EmbedResult& result) {
  const absl::Span<const float> values = result.values();
  if (result.tokens().empty()) return Numbers(values);
  std::string text;
  for (int i = 0; i < result.tokens_size(); ++i) {
    absl::StrAppend(&text, result.tokens(i).piece(), "\t",
                    Numbers(values.subspan(i * size_t{1} * result.width(),
                                           result.width())));
  }
  return text + "\n";
}

}  // namespace

int Run(const EmbedOptions& options) {
  Client client(ToClientOptions(options.connection));
  BatchCall<v1::EmbedRequest, v1::EmbedResponse, v1::EmbedResult> call = {
      .request = options.request,
      .add =
          [](const Line& line, v1::EmbedRequest& request) {
            request.add_inputs()->set_text(line.text);
            return absl::OkStatus();
          },
      .call = [&](const auto& request) { return client.Embed(request); },
      .format =
          [&](const Line&, const v1::EmbedResult& result) {
            return options.input.json ? ToJsonLine(result) : Format(result);
          }};
  call.request.set_model(options.connection.model);
  return ForEachBatch(options.input, call);
}

}  // namespace attend
