#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/cpp/cli/command_inputs.h"
#include "client/cpp/cli/commands.h"
#include "client/cpp/lib/client.h"

namespace attend {
namespace {

absl::StatusOr<std::string> Tokenize(Client& client,
                                     const TokenizeOptions& options,
                                     const std::string& text) {
  v1::TokenizeRequest request;
  request.set_model(options.connection.model);
  request.add_texts(text);
  request.set_side(options.side);
  request.set_no_special_tokens(options.no_special_tokens);
  const auto result = OnlyResult(client.Tokenize(request));
  if (!result.ok()) return result.status();
  if (options.input.json) return ToJsonLine(*result);
  return absl::StrCat(options.pieces ? absl::StrJoin(result->pieces(), " ")
                                     : absl::StrJoin(result->ids(), " "),
                      "\n");
}

absl::StatusOr<std::string> Detokenize(Client& client,
                                       const TokenizeOptions& options,
                                       const std::string& ids) {
  v1::DetokenizeRequest request;
  request.set_model(options.connection.model);
  request.set_side(options.side);
  request.set_keep_special_tokens(options.keep_special_tokens);
  const absl::Status parsed = ParseIds(ids, *request.add_sequences());
  if (!parsed.ok()) return parsed;
  const auto result = OnlyResult(client.Detokenize(request));
  if (!result.ok()) return result.status();
  if (options.input.json) return ToJsonLine(*result);
  return absl::StrCat(result->text(), "\n");
}

}  // namespace

int Run(const TokenizeOptions& options) {
  Client client(ToClientOptions(options.connection));
  return ForEachInput(options.input, [&](const Line& line) {
    return options.decode ? Detokenize(client, options, line.text)
                          : Tokenize(client, options, line.text);
  });
}

}  // namespace attend
