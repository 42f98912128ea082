#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "client/cpp/cli/batch_command.h"
#include "client/cpp/cli/command.h"
#include "client/cpp/cli/common_options.h"
#include "client/cpp/cli/for_each_input.h"
#include "client/cpp/cli/messages.h"
#include "client/cpp/cli/output.h"
#include "client/cpp/lib/client.h"

namespace attend {
namespace {

struct RerankOptions : BatchOptions<v1::RerankRequest> {
  std::string query;
};

// The scores of all documents, from several calls. Add() is thread-safe.
class Ranking {
 public:
  // `index` counts all documents, from 0.
  void Add(v1::RerankResult result, int64_t index) {
    result.set_index(static_cast<int32_t>(index));
    const std::lock_guard<std::mutex> lock(mutex_);
    results_.push_back(std::move(result));
  }

  // The `top` documents with the highest scores (0: all), highest first.
  std::string Lines(int top, bool json) {
    std::sort(results_.begin(), results_.end(),
              [](const auto& a, const auto& b) {
                return std::pair(-a.score(), a.index()) <
                       std::pair(-b.score(), b.index());
              });
    if (top > 0 && static_cast<int>(results_.size()) > top) {
      results_.resize(top);
    }
    std::string lines;
    for (const v1::RerankResult& result : results_) {
      if (json) {
        absl::StrAppend(&lines, ToJsonLine(result));
      } else {
        absl::StrAppendFormat(&lines, "%.6f\t%d\t%s\n", result.score(),
                              result.index() + 1, result.document());
      }
    }
    return lines;
  }

 private:
  std::mutex mutex_;
  std::vector<v1::RerankResult> results_;  // guarded by mutex_ while it grows
};

// Sorts the results by the documents of the request, as the results of other
// methods are.
absl::StatusOr<v1::RerankResponse> Unsorted(
    absl::StatusOr<v1::RerankResponse> response) {
  if (!response.ok()) return response;
  auto& results = *response->mutable_results();
  std::sort(results.begin(), results.end(),
            [](const auto& a, const auto& b) { return a.index() < b.index(); });
  return response;
}

int RunRerank(const RerankOptions& options) {
  v1::RerankRequest base = options.request;
  base.set_query(options.query);
  base.set_model(options.connection.model);
  base.clear_top_n();  // counts the documents of all calls
  Client client(ToClientOptions(options.connection));
  Ranking ranking;
  const BatchCall<v1::RerankRequest, v1::RerankResponse> call = {
      .request = base,
      .add =
          [](const Line& line, v1::RerankRequest& request) {
            request.add_documents(line.text);
            return absl::OkStatus();
          },
      .call =
          [&](const auto& request) { return Unsorted(client.Rerank(request)); },
      .format =
          [&](const Line& line, v1::RerankResult result) {
            result.set_document(line.text);
            ranking.Add(std::move(result), line.number - 1);
            return std::string();
          }};
  const int exit_code = ForEachBatch(options.input, call, /*failed=*/"");
  const bool printed =
      Print(ranking.Lines(options.request.top_n(), options.input.json));
  return printed ? exit_code : kExitCallFailed;
}

}  // namespace

Command AddRerank(CLI::App& attend) {
  const auto options = std::make_shared<RerankOptions>();
  CLI::App& command = *attend.add_subcommand(
      "rerank", "Rank documents by their relevance to a query");
  command.footer(
      "Documents are arguments, or the lines of a file or of standard "
      "input.\nA line has, separated by tabs: score, number of the document, "
      "document. The highest\nscore comes first. A document that fails has a "
      "message on stderr instead.");
  command.add_option("query", options->query, "The query")->required();
  command.add_option("documents", options->input.arguments, "The documents");
  command
      .add_option("-f,--file", options->input.file,
                  "Read documents from this file (default: standard input)")
      ->excludes("documents");
  v1::RerankRequest& request = options->request;
  command
      .add_option_function<int32_t>(
          "-n,--top-n", [&](int32_t n) { request.set_top_n(n); },
          "Number of documents to print (default: all)")
      ->check(CLI::Range(1, 100000000));
  command.add_flag_function(
      "--raw", [&](int64_t) { request.set_raw_scores(true); },
      "Print scores without sigmoid");
  AddInFlight(command, options->input);
  AddBatching(command, *options);
  return {&command, [options] { return RunRerank(*options); }};
}

}  // namespace attend
