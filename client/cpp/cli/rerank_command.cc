#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdint>
#include <cstdio>
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
#include "client/cpp/lib/client.h"

namespace attend {
namespace {

struct Options : BatchOptions<v1::RerankRequest> {
  std::string query;
};

// Scores of documents, of any number of calls. Thread-safe while it grows.
class Ranking {
 public:
  // `index`: among all documents.
  void Add(v1::RerankResult result, int64_t index) {
    result.set_index(static_cast<int32_t>(index));
    const std::lock_guard<std::mutex> lock(mutex_);
    results_.push_back(std::move(result));
  }

  // Best first; `top` 0: all.
  void Print(int top, bool json) {
    std::sort(results_.begin(), results_.end(),
              [](const auto& a, const auto& b) {
                return std::pair(-a.score(), a.index()) <
                       std::pair(-b.score(), b.index());
              });
    if (top > 0 && static_cast<int>(results_.size()) > top) {
      results_.resize(top);
    }
    for (const v1::RerankResult& result : results_) {
      const std::string line =
          json ? ToJsonLine(result)
               : absl::StrFormat("%.6f\t%d\t%s\n", result.score(),
                                 result.index() + 1, result.document());
      std::fwrite(line.data(), 1, line.size(), stdout);
    }
  }

 private:
  std::mutex mutex_;
  std::vector<v1::RerankResult> results_;  // guarded by mutex_ while it grows
};

// The response's results in the order of the request's documents, as other
// methods have them.
absl::StatusOr<v1::RerankResponse> Unsorted(
    absl::StatusOr<v1::RerankResponse> response) {
  if (!response.ok()) return response;
  auto& results = *response->mutable_results();
  std::sort(results.begin(), results.end(),
            [](const auto& a, const auto& b) { return a.index() < b.index(); });
  return response;
}

int Run(const Options& options) {
  v1::RerankRequest base = options.request;
  base.set_query(options.query);
  base.set_model(options.connection.model);
  base.clear_top_n();  // it is of all calls together
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
  ranking.Print(options.request.top_n(), options.input.json);
  return exit_code;
}

}  // namespace

Command AddRerank(CLI::App& attend) {
  const auto options = std::make_shared<Options>();
  CLI::App& command = *attend.add_subcommand(
      "rerank", "Order documents by how well they answer a query");
  command.footer(
      "Documents are arguments, or lines of a file or standard input, in any "
      "number.\nA line is: score, number of the document, document (tabs "
      "between), best first.\nOne that fails is left out, with a message on "
      "stderr.");
  command.add_option("query", options->query, "Query")->required();
  command.add_option("documents", options->input.arguments, "Documents");
  command
      .add_option("-f,--file", options->input.file,
                  "Read documents from this file (default: standard input)")
      ->excludes("documents");
  v1::RerankRequest& request = options->request;
  command
      .add_option_function<int32_t>(
          "-n,--top-n", [&](int32_t n) { request.set_top_n(n); },
          "Print only so many")
      ->check(CLI::Range(1, 100000000));
  command.add_flag_function(
      "--raw", [&](int64_t) { request.set_raw_scores(true); },
      "Scores without sigmoid");
  AddInFlight(command, options->input);
  AddBatching(command, *options);
  return {&command, [options] { return Run(*options); }};
}

}  // namespace attend
