#include <CLI/CLI.hpp>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/types/span.h"
#include "client/cpp/cli/batch_command.h"
#include "client/cpp/cli/command.h"
#include "client/cpp/cli/common_options.h"
#include "client/cpp/lib/client.h"

namespace attend {
namespace {

std::string Numbers(absl::Span<const float> values) {
  return absl::StrCat(absl::StrJoin(values, " "), "\n");
}

// A line of token:weight.
std::string Weights(const v1::SparseVector& sparse) {
  std::string text;
  for (int i = 0; i < sparse.ids_size(); ++i) {
    absl::StrAppend(&text, i == 0 ? "" : " ", sparse.ids(i), ":",
                    sparse.weights(i));
  }
  return text + "\n";
}

// A line with token and numbers for each vector, then an empty line.
std::string Vectors(const v1::MultiVector& vectors) {
  std::string text;
  const absl::Span<const float> values = vectors.values();
  for (int i = 0; i < vectors.ids_size(); ++i) {
    absl::StrAppend(&text, vectors.ids(i), "\t",
                    Numbers(values.subspan(i * size_t{1} * vectors.width(),
                                           vectors.width())));
  }
  return text + "\n";
}

// One line of numbers. With --per-token: a line with piece and numbers for each
// token, then an empty line.
std::string FormatEmbed(const Line&, const v1::EmbedResult& result) {
  if (result.has_sparse()) return Weights(result.sparse());
  if (result.has_multi_vector()) return Vectors(result.multi_vector());
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

Command AddEmbed(CLI::App& attend) {
  const auto options = std::make_shared<BatchOptions<v1::EmbedRequest>>();
  CLI::App& command = *attend.add_subcommand(
      "embed", "Print a vector for each input, or for each of its tokens");
  command.footer(kFailedInputs);
  AddInput(command, options->input, "Texts; each is one input");
  v1::EmbedRequest& request = options->request;
  CLI::Option* const per_token = command.add_flag_function(
      "--per-token", [&](int64_t) { request.set_per_token(true); },
      "Print a line with piece and vector for each token, then an empty line");
  CLI::Option* const sparse = command.add_flag_function(
      "--sparse",
      [&](int64_t) { request.add_kinds(v1::EMBEDDING_KIND_SPARSE); },
      "Print weights of tokens instead, as token:weight (SPLADE, BGE-M3)");
  sparse->excludes(per_token);
  command
      .add_flag_function(
          "--multi-vector",
          [&](int64_t) { request.add_kinds(v1::EMBEDDING_KIND_MULTI_VECTOR); },
          "Print a line with token and vector for each compared token "
          "(ColBERT), then an empty line")
      ->excludes(per_token)
      ->excludes(sparse);
  command
      .add_option_function<std::string>(
          "--role", [&](const std::string& role) { request.set_role(role); },
          "Role of the texts in a search: query or document")
      ->check(CLI::IsMember({"query", "document"}));
  command
      .add_option_function<int32_t>(
          "--dimensions", [&](int32_t n) { request.set_dimensions(n); },
          "Truncate vectors to this number of elements (for models that are "
          "trained for it)")
      ->excludes(per_token);
  command
      .add_flag_function(
          "--normalize,!--no-normalize",
          [&](int64_t on) { request.set_normalize(on > 0); },
          "Scale vectors to length 1, or do not (default: that of the model)")
      ->excludes(per_token);
  CLI::Option* const name = command.add_option_function<std::string>(
      "--prompt-name",
      [&](const std::string& prompt) { request.set_prompt_name(prompt); },
      "Put this prompt of the model before each text (query, passage, ...)");
  command
      .add_option_function<std::string>(
          "--prompt",
          [&](const std::string& text) { request.set_prompt_text(text); },
          "Put this text before each text")
      ->excludes(name);
  AddBatching(command, *options);
  return {&command, [options] {
            return RunBatches(*options, &Client::Embed,
                              AddText<v1::EmbedRequest>, FormatEmbed);
          }};
}

}  // namespace attend
