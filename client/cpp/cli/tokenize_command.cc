#include <CLI/CLI.hpp>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/cpp/cli/batch_command.h"
#include "client/cpp/cli/command.h"
#include "client/cpp/cli/common_options.h"
#include "client/cpp/cli/messages.h"
#include "client/cpp/lib/client.h"

namespace attend {
namespace {

// For text to ids and for ids to text.
struct TokenizeOptions {
  BatchOptions<v1::TokenizeRequest> tokenize;
  bool decode = false;
  bool pieces = false;
  bool keep_special_tokens = false;
};

int Tokenize(const TokenizeOptions& options) {
  return RunBatches(
      options.tokenize, &Client::Tokenize,
      [](const Line& line, v1::TokenizeRequest& request) {
        request.add_texts(line.text);
        return absl::OkStatus();
      },
      [&](const Line&, const v1::Tokenization& result) {
        return absl::StrCat(options.pieces ? absl::StrJoin(result.pieces(), " ")
                                           : absl::StrJoin(result.ids(), " "),
                            "\n");
      });
}

int Detokenize(const TokenizeOptions& options) {
  BatchOptions<v1::DetokenizeRequest> batches = {
      .connection = options.tokenize.connection,
      .input = options.tokenize.input,
      .request = {}};
  batches.request.set_side(options.tokenize.request.side());
  batches.request.set_keep_special_tokens(options.keep_special_tokens);
  return RunBatches(
      batches, &Client::Detokenize,
      [](const Line& line, v1::DetokenizeRequest& request) {
        v1::Tokens ids;
        const absl::Status parsed = ParseIds(line.text, ids);
        if (parsed.ok()) request.add_sequences()->Swap(&ids);
        return parsed;
      },
      [](const Line&, const auto& result) {
        return absl::StrCat(result.text(), "\n");
      });
}

}  // namespace

Command AddTokenize(CLI::App& attend) {
  const auto options = std::make_shared<TokenizeOptions>();
  CLI::App& command = *attend.add_subcommand(
      "tokenize", "Convert texts to token ids, or token ids to texts");
  AddInput(command, options->tokenize.input,
           "Texts; with --decode, ids separated by spaces or commas");
  AddConnection(command, options->tokenize.connection);
  v1::TokenizeRequest& request = options->tokenize.request;
  request.set_side(v1::SIDE_SOURCE);
  CLI::Option* const decode =
      command.add_flag("-d,--decode", options->decode, "Convert ids to text");
  command.add_flag("--pieces", options->pieces, "Print pieces instead of ids")
      ->excludes(decode);
  command
      .add_option_function<std::string>(
          "--side",
          [&](const std::string& side) {
            request.set_side(side == "source" ? v1::SIDE_SOURCE
                                              : v1::SIDE_TARGET);
          },
          "Vocabulary to use: source (default), or target, that of the results "
          "of generate")
      ->check(CLI::IsMember({"source", "target"}));
  command
      .add_flag_function(
          "--no-special-tokens",
          [&](int64_t) { request.set_no_special_tokens(true); },
          "Do not add special tokens")
      ->excludes(decode);
  command
      .add_flag("--keep-special-tokens", options->keep_special_tokens,
                "With --decode: also print special tokens")
      ->needs(decode);
  return {&command, [options] {
            return options->decode ? Detokenize(*options) : Tokenize(*options);
          }};
}

}  // namespace attend
